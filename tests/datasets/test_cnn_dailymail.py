import hashlib
import os
import shutil

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.question_corpora import rows, sizes, warnings, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
NAME = "decanlp_cnn_dailymail"
STORY = (
    "(XYZ) -- It rained\u00a0today\n\nNobody was wet. \n\n\n"
    "@highlight\n\nRain falls\n\n@highlight\n\n\u201cDry!\u201d\n"
)


def named(address):
    return hashlib.sha1(address.encode()).hexdigest()


def story(directory, address, content=STORY, folder="cnn/stories"):
    write(directory, f"{folder}/{named(address)}.story", content)


def build(tmp_path, manual):
    return building.prepare(NAME, str(tmp_path / "d"), str(manual))


def test_stories_of_the_lists(tmp_path):
    manual = tmp_path / "m"
    for address in ("a", "b", "c", "d"):
        story(manual / "cnn_dailymail", address, STORY + address)
    story(manual / "cnn_dailymail", "e", folder="dailymail/stories")
    story(manual / "cnn_dailymail", "none", folder="dailymail/stories")
    lists = manual / "cnn_dailymail" / "url_lists"
    write(lists, "all_train.txt", "b\r\ne\na\nlost\n")
    write(lists, "all_val.txt", "c\n")
    write(lists, "all_test.txt", "d\na\n")
    # The other lists do not count beside those.
    write(lists, "cnn_wayback_test_urls.txt", "none\n")
    builder = build(tmp_path, manual)
    assert sizes(builder) == {"train": 3, "validation": 1, "test": 1}
    assert rows(builder, "train")[1] == (
        named("e"),
        "What is the summary?",
        "(XYZ) -- It rained today. Nobody was wet.",
        "Rain falls. \u201cDry!\u201d",
    )
    train = [row[0] for row in rows(builder, "train")]
    assert train == [named("b"), named("e"), named("a")]
    found = warnings(builder)
    assert "all_train.txt: 1 line of 4 without a story" in found
    assert "all_test.txt: 1 line of 2 without a story" in found
    assert "stories: 1 in no list, left out" in found
    assert "train: 3 files; the released corpus has 287,227" in found


def test_the_lists_of_the_two_papers(tmp_path):
    manual = tmp_path / "m"
    story(manual, "a")
    story(manual, "b", folder="dailymail_stories")
    write(manual, "cnn/cnn_wayback_training_urls.txt", "a\n")
    write(manual, "dailymail/dailymail_wayback_test_urls.txt", "b\n")
    builder = build(tmp_path, manual)
    assert sizes(builder) == {"train": 1, "test": 1}


def test_without_lists_the_hash_divides(tmp_path):
    manual, other = tmp_path / "m", tmp_path / "n"
    for i in range(41):
        story(manual, f"address {i}", folder="cnn_stories")
    builder = build(tmp_path, manual)
    assert sizes(builder) == {"train": 35, "validation": 3, "test": 3}
    names = [
        row[0]
        for split in ("train", "validation", "test")
        for row in rows(builder, split)
    ]
    assert len(set(names)) == 41
    assert "no lists of addresses are there, divided by hash" in (
        warnings(builder)
    )
    shutil.copytree(manual / "cnn_stories", other)
    again = building.prepare(NAME, str(tmp_path / "e"), str(other))
    assert rows(again, "test") == rows(builder, "test")


def test_odd_stories_are_counted(tmp_path):
    manual = tmp_path / "m"
    story(manual, "a", "No highlights here.\n", folder=".")
    story(manual, "b", "", folder=".")
    story(manual, "c", "@highlight\n\nA summary alone\n", folder=".")
    story(manual, "d", b"caf\xe9\n@highlight\nA b@highlight.\n", folder=".")
    write(manual, "all_train.txt", "a\nb\nc\nd\n")
    builder = build(tmp_path, manual)
    assert [row[2:] for row in rows(builder, "train")] == [
        ("", "A summary alone."),
        ("caf\u00e9.", "A b@highlight."),
    ]
    found = warnings(builder)
    assert "stories: 2 files without a summary, skipped (first: " in found
    assert "stories: 1 file without a text, kept" in found
    assert "stories: 1 file not UTF-8, read as Latin-1" in found


def test_a_changed_story_is_built_anew(tmp_path):
    manual = tmp_path / "m"
    story(manual, "a")
    build(tmp_path, manual)
    story(manual, "a", "New.\n@highlight\nNews\n")
    assert rows(build(tmp_path, manual), "train")[0][2:] == ("New.", "News.")


def test_missing_and_wrong_files(tmp_path):
    manual = tmp_path / "m"
    manual.mkdir()
    with pytest.raises(MissingData, match=r"no \*.story in .*cnn/stories"):
        build(tmp_path, manual)
    story(manual, "a", "No highlight\n")
    with pytest.raises(DataError, match="no story has a summary"):
        build(tmp_path, manual)
    write(manual, "all_test.txt", "b\n")
    with pytest.raises(DataError, match="all_test.txt: none of its addresses"):
        build(tmp_path, manual)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "cnn_dailymail")), reason="not there"
)
def test_the_released_files(tmp_path):
    builder = building.prepare(NAME, str(tmp_path), REAL)
    assert sum(sizes(builder).values()) >= 20
    for split in sizes(builder):
        for _, _, context, answer in rows(builder, split):
            assert answer and "@highlight" not in context + answer
