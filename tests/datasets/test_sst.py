import os
import shutil
import tempfile
from collections import Counter

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.datasets import building
from mtl_tf.datasets.sst.sst_dataset_builder import FIVE, Builder
from tests.datasets.corpora import rows

TREES = {
    "train.txt": (
        "(3 (2 It) (4 (3 's) (4 good)))\n"
        "(2 (2 -LRB-) (2 so-so))\n"
        "(0 (1 It) (0 (2 and\\/or) (0 bad)))\n"
        "(4 (3 's) (4 good))\n"
    ),
    "dev.txt": "(1 (2 so) (1 poor))\n(2 (2 a) (2 film))\n(4 great)\n",
    "test.txt": "(0 awful)\n(3 (2 not) (1 bad))",
}
CSV = {
    "train_fine_sent.csv": (
        'label,sentence\n3,"It\'s good, and ""fine"""\n2,so-so\n0,bad\x85ly\n'
    ),
    "dev_fine_sent.csv": "label,sentence\r\n1,poor\r\n4,great\r\n",
    "test_fine_sent.csv": "label,sentence\n0,awful\n3,not bad\n\n",
}


def write(directory, files, **replaced: bytes):
    """Writes a release; `replaced` has contents by the name's first word."""
    os.makedirs(directory, exist_ok=True)
    for name, text in files.items():
        key = name.partition(".")[0].partition("_")[0]
        content = replaced.get(key, text.encode())
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    return os.fspath(directory)


def build(tmp_path, config, files=TREES, **replaced: bytes):
    manual = write(tmp_path / "manual", files, **replaced)
    return building.prepare(f"sst/{config}", str(tmp_path / "data"), manual)


@pytest.mark.extended
class SstTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["sst1"]
    SPLITS = {"train": 4, "validation": 3, "test": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        write(cls.EXAMPLE_DIR, TREES)


class SstPhrasesTest(SstTest):
    BUILDER_CONFIG_NAMES_TO_TEST = ["sst2_phrases"]
    SPLITS = {"train": 8, "validation": 2, "test": 2}


def test_sentences_of_trees(tmp_path):
    builder = build(tmp_path, "sst1")
    assert builder.info.features["label"].names == list(FIVE)
    assert rows(builder, "train") == [
        ("It 's good", 3),
        ("( so-so", 2),
        ("It and/or bad", 0),
        ("'s good", 4),
    ]
    assert rows(builder, "validation")[-1] == ("great", 4)
    assert rows(builder, "test") == [("awful", 0), ("not bad", 3)]


def test_two_classes_leave_the_neutral_texts_out(tmp_path):
    builder = build(tmp_path, "sst2")
    assert builder.info.features["label"].names == ["negative", "positive"]
    assert rows(builder, "train") == [
        ("It 's good", 1),
        ("It and/or bad", 0),
        ("'s good", 1),
    ]
    assert rows(builder, "validation") == [("so poor", 0), ("great", 1)]


def test_phrases_train_and_sentences_test(tmp_path):
    builder = build(tmp_path, "sst1_phrases")
    assert rows(builder, "train") == [
        ("It 's good", 3),
        ("It", 2),
        ("'s good", 4),  # once, though it is a sentence, too
        ("'s", 3),
        ("good", 4),
        ("( so-so", 2),
        ("(", 2),
        ("so-so", 2),
        ("It and/or bad", 0),
        ("It", 1),  # another label: another example
        ("and/or bad", 0),
        ("and/or", 2),
        ("bad", 0),
    ]
    assert len(rows(builder, "validation")) == 3
    assert rows(builder, "test") == [("awful", 0), ("not bad", 3)]
    two = rows(build(tmp_path, "sst2_phrases"), "train")
    assert ("good", 1) in two and ("It", 0) in two and ("(", 2) not in two
    assert len(two) == 8


def test_csv_files(tmp_path):
    builder = build(tmp_path, "sst1", CSV)
    assert rows(builder, "train") == [
        ('It\'s good, and "fine"', 3),
        ("so-so", 2),
        ("bad\x85ly", 0),
    ]
    assert rows(builder, "validation") == [("poor", 1), ("great", 4)]
    assert rows(builder, "test") == [("awful", 0), ("not bad", 3)]
    assert set(builder.info.metadata["sources"]) == set(CSV)
    assert len(rows(build(tmp_path, "sst2", CSV), "train")) == 2


BINARY = {
    "train_binary_sent.csv": "label,sentence\n1,good\n0,bad\n",
    "dev_binary_sent.csv": "label,sentence\n1,fine\n0,poor\n",
    "test_binary_sent.csv": "label,sentence\n0,awful\n1,great\n",
}


def test_the_files_of_two_classes(tmp_path):
    """Those that decaNLP's code downloads."""
    builder = build(tmp_path, "sst2", BINARY)
    assert rows(builder, "train") == [("good", 1), ("bad", 0)]
    assert rows(builder, "test") == [("awful", 0), ("great", 1)]
    found = " ".join(building.warnings_of(builder))
    assert "train_binary_sent.csv: 3 lines; the released file has 6,921" in (
        found
    )
    with pytest.raises(MissingData):
        build(tmp_path, "sst1", BINARY)
    with pytest.raises(DataError, match="train_bi.*:2: unknown.*2.*0 to 1"):
        build(tmp_path, "sst2", BINARY, train=b"label,sentence\n2,good\n")


def test_of_both_releases_the_trees_are_taken(tmp_path):
    write(tmp_path / "manual", CSV)
    write(tmp_path / "manual" / "trees", TREES)
    manual = str(tmp_path / "manual")
    builder = building.prepare("sst/sst1", str(tmp_path / "data"), manual)
    assert set(builder.info.metadata["sources"]) == set(TREES)


def test_half_a_release_does_not_hide_a_whole_one(tmp_path):
    write(tmp_path / "manual", {"dev.txt": TREES["dev.txt"]})
    assert len(rows(build(tmp_path, "sst1", CSV), "train")) == 3


def test_a_missing_file_is_named(tmp_path):
    files = {name: TREES[name] for name in ("train.txt", "dev.txt")}
    with pytest.raises(DataError, match="test.txt: No such file"):
        build(tmp_path, "sst1", files)


def test_phrases_need_trees(tmp_path):
    with pytest.raises(DataError, match="sst1_phrases: .* has not train.txt"):
        build(tmp_path, "sst1_phrases", CSV)
    with pytest.raises(DataError, match="nor train_fine_sent.csv"):
        build(tmp_path / "empty", "sst1", {})


def test_warnings_keep_the_row(tmp_path):
    builder = build(
        tmp_path, "sst1", train=b"(3 (2 R  ock) (2 caf\xe9))\n(3 x)\n\n"
    )
    assert rows(builder, "train") == [("R  ock café", 3), ("x", 3)]
    assert building.warnings_of(builder)[:4] == [
        "train.txt: 1 line not UTF-8, read as Latin-1 (1 character; first: "
        "line 1)",
        "train.txt: 3 lines; the released file has 8,544",
        "train.txt: 1 word with a space inside, kept (first: line 1)",
        "train.txt: all 2 texts are of one class, positive",
    ]


def test_an_empty_sentence_of_a_csv_file_is_kept(tmp_path):
    train = b"\xef\xbb\xbflabel,sentence\n1,a\n3,\n"
    builder = build(tmp_path, "sst1", CSV, train=train)
    assert rows(builder, "train") == [("a", 1), ("", 3)]
    assert (
        "train_fine_sent.csv: 1 empty text, kept (first: line 3)"
        in building.warnings_of(builder)
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(3 (2 a) (2 b)", r"1 bracket not closed in the tree '\(3 \(2 a\)"),
        ("(3 a) (2 b)", r"text outside of the tree at column 7: '\(2 b\)'"),
        ("(3 a))", r"text outside of the tree at column 6: '\)'"),
        ("a (3 b)", "text outside of the tree at column 1"),
        ("(5 a)", "unknown label '5', it must be 0 to 4, at column 1"),
        ("(3 (x a))", "unknown label 'x'"),
        ("(3 )", "a phrase without words ends at column 4"),
        ("(3 (2 a) b)", "a word follows a phrase"),
        ("(3 b (2 a))", "a phrase follows a word"),
        ("(3a)", "a bracket without a label and a space at column 1"),
        ("", "no tree in the line ''"),
    ],
)
def test_a_line_that_is_no_tree(tmp_path, line, message):
    content = f"(3 a)\n{line}\n(1 b)\n".encode()
    with pytest.raises(DataError, match=f"train.txt:2: {message}"):
        build(tmp_path, "sst1", train=content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sentence,label\na,1\n", ":1: the header must be label,sentence"),
        ("label,sentence\n1,a\n5,b\n", ":3: unknown label '5'"),
        ("label,sentence\n1,a\n2\n", ":3: 1 fields, but a label and a sent"),
        ('label,sentence\n1,"a\n', ":2: a quoted field is never closed"),
        ("label,sentence\n", ": there are no rows under the header"),
    ],
)
def test_a_wrong_csv_file(tmp_path, content, message):
    with pytest.raises(DataError, match=f"train_fine_sent.csv{message}"):
        build(tmp_path, "sst1", CSV, train=content.encode())


def test_only_neutral_texts(tmp_path):
    with pytest.raises(DataError, match="train.txt: all its texts are neutral"):
        build(tmp_path, "sst2", train=b"(2 a)\n")


def test_names():
    assert building.expand("sst") == ["sst/sst1", "sst/sst2"]
    with pytest.raises(ConfigError, match="name one of them: sst/sst1, sst/s"):
        building.prepare("sst")
    with pytest.raises(ConfigError, match="unknown conf.*did you mean 'sst2'"):
        building.prepare("sst/sst3")


REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


def numbers(builder):
    splits = builder.info.splits
    names = ("train", "validation", "test")
    return tuple(splits[name].num_examples for name in names)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "sst", "trees")),
    reason="SST is not in MTL_TF_MANUAL_DIR",
)
def test_real_corpus(tmp_path):
    five = building.prepare("sst/sst1", str(tmp_path), REAL)
    two = building.prepare("sst/sst2", str(tmp_path), REAL)
    assert numbers(five) == (8544, 1101, 2210)
    assert numbers(two) == (6920, 872, 1821)
    trees = rows(five, "train")
    assert not any("LRB" in text or "\\" in text for text, _ in trees)
    # The csv files hold the same sentences in another order.
    (tmp_path / "csv").mkdir()
    for name in CSV:
        os.symlink(os.path.join(REAL, "sst", name), tmp_path / "csv" / name)
    csv = building.prepare("sst/sst1", str(tmp_path), str(tmp_path / "csv"))
    assert numbers(csv) == (8544, 1101, 2210)
    assert building.warnings_of(csv) == []
    assert Counter(label for _, label in rows(csv, "train")) == Counter(
        label for _, label in trees
    )
