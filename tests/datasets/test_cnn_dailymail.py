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


def test_lists_beside_each_papers_stories(tmp_path):
    """As the archives of the stories' authors have them."""
    manual = tmp_path / "m" / "cnn_dailymail"
    for paper, address in (("cnn", "a"), ("dailymail", "b")):
        story(manual, address, folder=f"{paper}/{paper}/stories")
        lists = manual / paper
        write(lists, "wayback_training_urls.txt", f"{address}\n")
    builder = build(tmp_path, tmp_path / "m")
    assert sizes(builder) == {"train": 2}
    assert "without a story" not in warnings(builder)


def test_the_kind_of_lists_with_most_splits_is_taken_each_once(tmp_path):
    manual = tmp_path / "m"
    for address in "abc":
        story(manual, address)
    write(manual, "cnn-dailymail-master/url_lists/all_test.txt", "a\n")
    for part, address in zip(("training", "validation", "test"), "abc"):
        for folder in ("cnn", "url_lists"):
            name = f"cnn_wayback_{part}_urls.txt"
            write(manual / folder, name, f"{address}\n")
    builder = build(tmp_path, manual)
    assert sizes(builder) == {"train": 1, "validation": 1, "test": 1}
    assert "without a story" not in warnings(builder)
    shutil.rmtree(manual / "cnn-dailymail-master")
    write(manual, "url_lists/all_test.txt", "a\n")
    for path in manual.glob("*/cnn_wayback*"):
        path.unlink()
    found = warnings(build(tmp_path, manual))
    assert "there is no all_train.txt: the build has no train" in found


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
    found = warnings(builder)
    assert "no lists of addresses (all_train.txt, all_val.txt, all" in found
    assert "divided by hash: no scores to compare with published" in found
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
    with pytest.raises(MissingData, match=r"no \*.story in .*cnn_stories"):
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
