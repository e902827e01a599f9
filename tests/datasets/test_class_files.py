"""SUBJ and MR, which are one file a class."""

import os
import shutil
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.datasets import building
from mtl_tf.datasets.mr.mr_dataset_builder import Builder as Mr
from mtl_tf.datasets.subj.subj_dataset_builder import Builder as Subj
from tests.datasets.corpora import rows

SUBJ = {"plot.tok.gt9.5000": "plot", "quote.tok.gt9.5000": "quote"}
MR = {"rt-polarity.neg": "bad", "rt-polarity.pos": "good"}
COUNTS = (30, 25)
PINNED = ["plot 9 .", "plot 27 .", "plot 29 .", "quote 12 .", "quote 17 ."]


def write(directory, words, **replaced: bytes):
    """Writes a corpus; `replaced` has contents by the word of the class."""
    os.makedirs(directory, exist_ok=True)
    for (name, word), count in zip(words.items(), COUNTS):
        lines = b"".join(f"{word} {i} . \n".encode() for i in range(count))
        with open(os.path.join(directory, name), "wb") as file:
            file.write(replaced.get(word, lines))
    return os.fspath(directory)


def build(tmp_path, name="subj", words=None, **replaced: bytes):
    manual = write(tmp_path / "manual", words or SUBJ, **replaced)
    return building.prepare(name, str(tmp_path / "data"), manual)


class SubjTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = Subj
    SPLITS = {"train": 27 + 23, "test": 3 + 2}
    WORDS = SUBJ

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        write(cls.EXAMPLE_DIR, cls.WORDS)


@pytest.mark.extended
class MrTest(SubjTest):
    DATASET_CLASS = Mr
    WORDS = MR


def test_the_splits_are_disjoint_stratified_and_in_order(tmp_path):
    builder = build(tmp_path)
    assert builder.info.features["label"].names == ["objective", "subjective"]
    train, test = rows(builder, "train"), rows(builder, "test")
    assert [label for _, label in test] == [0, 0, 0, 1, 1]
    everything = [(f"plot {i} .", 0) for i in range(30)]
    everything += [(f"quote {i} .", 1) for i in range(25)]
    assert sorted(train + test) == sorted(everything)
    assert train == [row for row in everything if row not in test]
    assert test == [row for row in everything if row in test]


def test_what_is_drawn_is_pinned(tmp_path):
    # Another choice would change the results of old runs.
    assert [text for text, _ in rows(build(tmp_path), "test")] == PINNED


def test_the_draw_does_not_read_the_texts(tmp_path):
    lines = b"".join(b"other %d\n" % i for i in range(30))
    test = rows(build(tmp_path, plot=lines), "test")
    assert [text.split()[1] for text, _ in test] == [
        text.split()[1] for text in PINNED
    ]


def test_mr_in_the_folder_of_its_archive(tmp_path):
    write(tmp_path / "mr" / "rt-polaritydata", MR)
    builder = building.prepare("mr", str(tmp_path / "data"), str(tmp_path))
    assert builder.info.features["label"].names == ["negative", "positive"]
    assert rows(builder, "train")[0] == ("bad 0 .", 0)
    assert set(builder.info.metadata["sources"]) == set(MR)


def test_information_is_found(tmp_path):
    info = build(tmp_path).info
    assert "subjectivity dataset" in info.description
    assert "pang-lee-2004" in info.citation


def test_warnings_keep_the_row(tmp_path):
    lines = [b"a %d\n" % i for i in range(20)]
    lines += [b"caf\xe9 \x85 x\n", b"\n"]
    builder = build(tmp_path, plot=b"".join(lines))
    assert building.warnings_of(builder) == [
        "plot.tok.gt9.5000: 1 line not UTF-8, read as Latin-1 (2 characters; "
        "first: line 21)",
        "plot.tok.gt9.5000: 22 lines; the released file has 5,000",
        "plot.tok.gt9.5000: 1 empty text, kept (first: line 22)",
        "quote.tok.gt9.5000: 25 lines; the released file has 5,000",
    ]
    texts = rows(builder, "train") + rows(builder, "test")
    assert ("café \x85 x", 0) in texts and ("", 0) in texts


def test_utf8_lines_are_not_broken_at_u0085(tmp_path):
    lines = "".join(f"a {i} \x85 b\n" for i in range(30)).encode()
    builder = build(tmp_path, plot=lines)
    assert builder.info.splits["train"].num_examples == 27 + 23


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "plot.tok.gt9.5000: the file is empty"),
        (b"a\n" * 9, "plot.tok.gt9.5000: 9 lines.*at least 10"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        build(tmp_path, plot=content)


def test_a_missing_file(tmp_path):
    with pytest.raises(MissingData, match="none of its files .*polarity.neg,"):
        build(tmp_path, "mr")
    (tmp_path / "manual" / "rt-polarity.pos").write_text("a\n")
    with pytest.raises(DataError, match="rt-polarity.neg: No such file"):
        build(tmp_path, "mr")


def test_there_are_no_configurations():
    assert building.expand("subj") == ["subj"]
    with pytest.raises(ConfigError, match="subj has no configurations"):
        building.prepare("subj/plain")


REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


@pytest.mark.parametrize(
    ("name", "train", "test"), [("subj", 9000, 1000), ("mr", 9596, 1066)]
)
def test_real_corpora(tmp_path, name, train, test):
    if not REAL or not os.path.isdir(os.path.join(REAL, name)):
        pytest.skip(f"{name} is not in MTL_TF_MANUAL_DIR")
    builder = building.prepare(name, str(tmp_path), REAL)
    for split, count in (("train", train), ("test", test)):
        labels = [label for _, label in rows(builder, split)]
        assert len(labels) == count and sum(labels) == count // 2
    assert building.warnings_of(builder) == []
