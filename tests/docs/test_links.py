"""Links, paths and lists on the pages: what they name is there."""

import re

import pytest

from mtl_tf.tasks import registry
from tests.source_files import ROOMS, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HOW_TO_AND_REFERENCE = sorted((ROOT / "docs").glob("*.md"))


def without_blocks(markdown):
    """The text without fenced blocks, where `#` begins a comment."""
    return re.sub(r"^```.*?^```$", "", markdown, flags=re.M | re.S)


def links(page):
    """(path, anchor) of the page's links within the repository."""
    text = without_blocks(page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path if path else page), anchor


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    text = without_blocks(page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.M)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


def broken(page):
    """What the page links to and is not there."""
    return [
        f"{path.name}#{anchor}" if anchor else path.name
        for path, anchor in links(page)
        if not path.exists() or (anchor and anchor not in anchors(path))
    ]


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_somewhere(page):
    assert broken(page) == []


@pytest.mark.parametrize(
    "text",
    [
        "[a](absent.md)",
        "[a](#absent)",
        "[a](b.md#absent)",
        "[a](b.md#no-heading)",
    ],
)
def test_a_broken_link_is_seen(tmp_path, text):
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "b.md").write_text("# Heading\n```bash\n# no heading\n```\n")
    assert len(broken(tmp_path / "a.md")) == 1


def test_good_links_are_not_broken(tmp_path):
    page = tmp_path / "a.md"
    page.write_text(
        "# What `a.b` is, and why?\n"
        "[a](#what-ab-is-and-why) [b](a.md) [c](https://example.org/x)\n"
        "```text\n[d](absent.md)\n```\n"
    )
    assert broken(page) == []


def test_the_readme_leads_to_every_page():
    here = {path.resolve() for path, _ in links(ROOT / "README.md")}
    pages = {page.resolve() for page in HOW_TO_AND_REFERENCE}
    assert {page.name for page in pages - here} == set()


def test_the_index_of_results_leads_to_every_page_of_them():
    here = {path.resolve() for path, _ in links(ROOT / "docs" / "results.md")}
    pages = {p.resolve() for p in (ROOT / "docs" / "results").glob("*.md")}
    assert pages <= here


# The architecture page


@pytest.fixture(scope="module")
def architecture():
    page = ROOT / "docs" / "architecture.md"
    return page.read_text(encoding="utf-8")


def test_architecture_lists_the_rooms_and_their_imports(architecture):
    table = architecture.partition("| room |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", table, re.M)
    listed = {room: re.findall(r"`(\w+)`", needed) for room, needed in rows}
    assert listed == ROOMS


def test_architecture_pictures_every_room(architecture):
    picture = architecture.partition("```text\n")[2].partition("```")[0]
    assert {room for room in ROOMS if room not in picture} == set()


def test_architecture_names_only_files_that_are_there(architecture):
    named = re.findall(r"`((?:mtl_tf|launch|export)/[^`<]*)`", architecture)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def strays(text):
    """The files that are named without a folder, and are in none beside."""
    for line in text.splitlines():
        paths = [ROOT / path for path in re.findall(r"`(\w+/[^`]*)`", line)]
        folders = {path.parent for path in paths} | {*paths}
        for name in re.findall(r"`([a-z_]+\.py)`", line):
            if not any((folder / name).is_file() for folder in folders):
                yield name


def test_architecture_names_files_beside_their_folder(architecture):
    assert list(strays(architecture)) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("`mtl_tf/runs/system.py`, and `building.py`", []),
        ("`mtl_tf/runs/`: `building.py`", []),
        ("`mtl_tf/runs/system.py`, and `absent.py`", ["absent.py"]),
        ("`building.py` in the same folder", ["building.py"]),
    ],
)
def test_a_file_beside_no_folder_is_seen(line, found):
    assert list(strays(line)) == found


# The README


def test_the_readmes_example_of_own_data_is_a_task(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"`garden.py`:\n\n```python\n(.*?)```", text, re.S)
    for split in ("train", "test"):
        rows = "review,verdict\nA sturdy rake,good\nA poor hose,bad\n"
        (tmp_path / f"{split}.csv").write_text(rows)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block, "garden.py", "exec"), names)  # as `--config` does
    [garden] = registry.resolve(names["get_config"]().tasks)
    assert garden.name == "garden"
    assert sorted(garden.labels) == ["bad", "good"]
