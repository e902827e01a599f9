import os
import shutil
import tarfile
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import building
from mtl_tf.datasets.imdb.imdb_dataset_builder import Builder
from tests.datasets.corpora import rows

FILES = {
    "train/neg/2_1.txt": b"so bad.<br /><br />Really <i>bad</i>",
    "train/neg/10_4.txt": b"not good",
    "train/pos/0_10.txt": "café \x85 great".encode(),
    "test/neg/3_2.txt": b"line one\nline two <br/> three",
    "test/pos/7_8.txt": b"fine<br />",
    "train/urls_neg.txt": b"http://example.org",
    "imdb.vocab": b"the\n",
    "train/pos/.hidden": b"",
}
TRAIN = [
    ("so bad. Really <i>bad</i>", 0),
    ("not good", 0),
    ("café \x85 great", 1),
]
TEST = [("line one\nline two three", 0), ("fine", 1)]


def write(directory, **changed: bytes | None):
    """Writes aclImdb/; `changed` has contents by path, None for no file."""
    for name, content in {**FILES, **changed}.items():
        if content is not None:
            path = os.path.join(directory, "aclImdb", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
    return os.fspath(directory)


def pack(directory, archive, **changed: bytes | None):
    """Writes the same as an archive, in an order of its own."""
    write(directory, **changed)
    os.makedirs(os.path.dirname(archive), exist_ok=True)
    with tarfile.open(archive, "w:gz") as file:
        file.add(os.path.join(directory, "aclImdb"), "aclImdb")
    return os.fspath(os.path.dirname(archive))


def build(tmp_path, manual):
    return building.prepare("imdb", str(tmp_path / "data"), str(manual))


@pytest.mark.parametrize("folder", ["imdb", "imdb/aclImdb_v1", "aclImdb_v1"])
def test_the_unpacked_folder_is_found(tmp_path, folder):
    write(tmp_path / "m" / folder)
    assert rows(build(tmp_path, tmp_path / "m"), "test") == TEST


def test_an_archive_whose_outer_layer_a_browser_unpacked(tmp_path):
    write(tmp_path / "w")
    (tmp_path / "m").mkdir()
    with tarfile.open(tmp_path / "m/aclImdb_v1.tar", "w") as file:
        file.add(tmp_path / "w/aclImdb", "aclImdb")
    assert rows(build(tmp_path, tmp_path / "m"), "test") == TEST


class ImdbTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = Builder
    SPLITS = {"train": 3, "test": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        write(cls.EXAMPLE_DIR)


@pytest.mark.parametrize("name", ["aclImdb_v1.tar.gz", "aclImdb_part.tgz"])
def test_archive(tmp_path, name):
    builder = build(tmp_path, pack(tmp_path / "x", tmp_path / "manual" / name))
    assert rows(builder, "train") == TRAIN
    assert rows(builder, "test") == TEST
    assert builder.info.features["label"].names == ["negative", "positive"]
    assert list(builder.info.splits) == ["train", "test"]
    assert list(builder.info.metadata["sources"]) == [name]


@pytest.mark.parametrize("inner", ["", "aclImdb", "imdb"])
def test_folder(tmp_path, inner):
    if inner == "imdb":
        write(tmp_path / "manual" / "imdb")
        manual = tmp_path / "manual"
    else:
        manual = os.path.join(write(tmp_path / "manual"), inner)
    builder = build(tmp_path, manual)
    assert rows(builder, "train") == TRAIN
    assert rows(builder, "test") == TEST


def test_unlabelled_reviews(tmp_path):
    more = {"train/unsup/5_0.txt": b"who <br /> knows"}
    builder = build(tmp_path, write(tmp_path / "manual", **more))
    assert rows(builder, "unlabelled") == [("who knows", -1)]
    archive = tmp_path / "packed" / "aclImdb_v1.tar.gz"
    again = build(tmp_path / "b", pack(tmp_path / "x", archive, **more))
    assert rows(again, "unlabelled") == [("who knows", -1)]


def test_a_changed_review_makes_a_new_build(tmp_path):
    manual = write(tmp_path / "manual")
    build(tmp_path, manual)
    write(manual, **{"test/pos/7_8.txt": b"good<br />"})
    assert rows(build(tmp_path, manual), "test")[1] == ("good", 1)


def test_warnings_keep_the_row(tmp_path):
    odd = {"train/neg/10_4.txt": b"caf\xe9", "test/pos/7_8.txt": b" <br /> "}
    builder = build(tmp_path, write(tmp_path / "manual", **odd))
    warnings = building.warnings_of(builder)
    assert warnings[:2] == [
        "train/neg: 1 review not UTF-8, read as Latin-1 (first: 10_*.txt)",
        "train/neg: 2 reviews; the released corpus has 12,500",
    ]
    assert "test/pos: 1 review empty, kept (first: 7_*.txt)" in warnings
    assert rows(builder, "train")[1] == ("café", 0)
    assert rows(builder, "test")[1] == ("", 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"train/neg/4_7.txt": b"x"},
            "4_7.txt: rating 7 in train/neg, .* 1 to",
        ),
        ({"test/pos/4_5.txt": b"x"}, "4_5.txt: rating 5 in test/pos"),
        ({"test/pos/review.txt": b"x"}, "the name must be ID_RATING.txt"),
        ({"test/neg/3_2.txt": None, "test/neg/.x": b""}, r"no test/neg/\*.txt"),
    ],
)
def test_wrong_layouts(tmp_path, changed, message):
    with pytest.raises(DataError, match=message):
        build(tmp_path, write(tmp_path / "manual", **changed))
    archive = tmp_path / "packed" / "aclImdb_v1.tar.gz"
    manual = pack(tmp_path / "x", archive, **changed)
    with pytest.raises(DataError, match=message):
        build(tmp_path, manual)


def test_a_missing_folder(tmp_path):
    changed = dict.fromkeys(("test/neg/3_2.txt",))
    with pytest.raises(DataError, match="test/neg is missing: unpack"):
        build(tmp_path, write(tmp_path / "manual", **changed))


@pytest.mark.parametrize("cut", [20, 200])
def test_a_damaged_archive(tmp_path, cut):
    archive = tmp_path / "manual" / "aclImdb_v1.tar.gz"
    manual = pack(tmp_path / "x", archive)
    content = archive.read_bytes()
    archive.write_bytes(content[:cut])
    with pytest.raises(DataError, match="cannot read the archive .*aclImdb_v1"):
        build(tmp_path, manual)


def test_nothing_there(tmp_path):
    (tmp_path / "imdb").mkdir()
    with pytest.raises(DataError, match="neither aclImdb_v1.tar.gz nor aclI"):
        build(tmp_path, tmp_path)


REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "imdb")),
    reason="IMDB is not in MTL_TF_MANUAL_DIR",
)
def test_real_corpus(tmp_path):
    builder = building.prepare("imdb", str(tmp_path), REAL)
    for split in ("train", "test"):
        found = rows(builder, split)
        labels = [label for _, label in found]
        assert len(labels) == 25_000 and sum(labels) == 12_500
        assert not any("<br />" in text for text, _ in found)
    assert building.warnings_of(builder) == []
