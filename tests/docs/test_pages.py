"""Runs the pages of docs/ as a reader would: block by block, in order.

In a copy of the checkout,

*   a block with `file=PATH` becomes that file,
*   a block with `insert=PATH after=TEXT` goes into that file, after the only
    line that holds TEXT,
*   a `bash` block is run,
*   a `text` block shows what the last commands printed: each of its lines must
    stand there, in this order; `...` stands for anything,
*   an indented block is not run: it needs a corpus that is not ours to give, or
    hours.

Pages below docs/results/ record what was run elsewhere; they are not run.
"""

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [
    "add_a_task",
    "add_a_sharing_scheme",
    "add_a_task_type",
    "add_an_experiment",
    "answer_questions",
    "compare_models",
    "configs",
    "encoders",
    "ensembles",
    "export",
    "keras_layers",
    "labels_numbers_pairs",
    "own_code",
    "own_data",
    "pretrain",
    "python",
    "run_files",
    "tag_tokens",
    "translate",
]
SOURCES = ["mtl_tf", "launch", "export", "tests"]
TIMEOUT = 600  # seconds for one block


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: language, options of its info string, text, line."""

    language: str
    options: dict[str, str]
    text: str
    line: int


def read_blocks(markdown):
    blocks = []
    pattern = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.M | re.S)
    for match in pattern.finditer(markdown):
        options = dict(p.split("=", 1) for p in shlex.split(match[2]))
        line = markdown.count("\n", 0, match.start()) + 1
        blocks.append(Block(match[1], options, match[3], line))
    return blocks


def insert(path, text, after):
    lines = path.read_text().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if after in line]
    assert len(places) == 1, f"{path}: {after!r} stands in lines {places}"
    lines.insert(places[0] + 1, text)
    path.write_text("".join(lines))


def assert_printed(expected, output):
    """Each line of `expected` stands in `output`, in this order."""
    rest = " ".join(output.split())
    for line in filter(None, map(str.strip, expected.splitlines())):
        words = " ".join(line.split())
        pattern = re.escape(words).replace(re.escape("..."), ".*?")
        match = re.search(pattern, rest)
        assert match, f"not printed: {line!r}, but:\n{output}"
        rest = rest[match.end() :]


class Reader:
    """Does what a page says in `folder`."""

    def __init__(self, folder, data_dir="absent"):
        self.folder = folder
        self.output = ""
        self.environment = self._environment(data_dir)

    def _environment(self, data_dir):
        commands = self.folder / ".commands"
        commands.mkdir()
        python = commands / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        paths = [str(self.folder), *filter(None, sys.path)]
        return dict(
            os.environ,
            PATH=f"{commands}{os.pathsep}{os.environ['PATH']}",
            PYTHONPATH=os.pathsep.join(paths),
            MTL_TF_DATA_DIR=str(data_dir),
        )

    def follow(self, block):
        if "file" in block.options:
            path = self.folder / block.options["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif "insert" in block.options:
            path = self.folder / block.options["insert"]
            insert(path, block.text, block.options["after"])
        elif block.language == "bash":
            self.output = self.run(block.text)
        elif block.language == "text":
            assert_printed(block.text, self.output)
        else:
            raise AssertionError(f"line {block.line}: a block that is not run")

    def run(self, commands):
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        assert result.returncode == 0, (
            f"{commands}\n{result.stdout}\n{result.stderr[-5000:]}"
        )
        return result.stdout


def copy_checkout(folder):
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """One for all pages: the second finds the datasets built."""
    return tmp_path_factory.mktemp("data")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, data_dir):
    markdown = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    copy_checkout(tmp_path)
    reader = Reader(tmp_path, data_dir)
    blocks = read_blocks(markdown)
    assert any(block.language == "bash" for block in blocks)
    for block in blocks:
        reader.follow(block)


def test_every_page_that_shows_commands_is_run():
    pages = {
        path.stem
        for path in (ROOT / "docs").glob("*.md")
        if "\n```bash" in path.read_text(encoding="utf-8")
    }
    assert pages == set(PAGES)


# The reader of pages itself


def test_blocks_are_read_in_order_with_their_options():
    first, second = read_blocks(
        'Text\n```python file=a.py\nx = 1\n```\n\n```py after="a b"\n\n```\n'
    )
    assert first == Block("python", {"file": "a.py"}, "x = 1\n", 2)
    assert second == Block("py", {"after": "a b"}, "\n", 6)


def test_reader_writes_inserts_and_runs(tmp_path):
    reader = Reader(tmp_path)
    for block in [
        Block("python", {"file": "a/b.py"}, "x = [\n]\nprint(x)\n", 1),
        Block("python", {"insert": "a/b.py", "after": "x = ["}, "    7,\n", 1),
        Block("bash", {}, "python a/b.py\n", 1),
        Block("text", {}, "[7]\n", 1),
    ]:
        reader.follow(block)
    assert reader.output == "[7]\n"


@pytest.mark.parametrize(
    "block",
    [
        Block("bash", {}, "false\ntrue\n", 1),
        Block("bash", {}, "false | cat\n", 1),
        Block("text", {}, "what nobody printed\n", 1),
        Block("python", {}, "x = 1\n", 1),
        Block("python", {"insert": "a", "after": "twice"}, "x\n", 1),
        Block("python", {"insert": "a", "after": "absent"}, "x\n", 1),
    ],
)
def test_reader_fails_where_the_page_is_wrong(tmp_path, block):
    (tmp_path / "a").write_text("twice\ntwice\n")
    with pytest.raises(AssertionError):
        Reader(tmp_path).follow(block)


def test_printed_lines_must_come_in_order():
    assert_printed("books  ... mean\n\ndone\n", "books   87.5\nmean 80\ndone\n")
    with pytest.raises(AssertionError):
        assert_printed("done\nbooks", "books\ndone\n")
