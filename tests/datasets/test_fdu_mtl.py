import os
import shutil
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import building
from mtl_tf.datasets.fdu_mtl import CONFIGS
from mtl_tf.datasets.fdu_mtl.fdu_mtl_dataset_builder import Builder
from tests.datasets.corpora import (
    TEST,
    TRAIN,
    UNLABEL,
    line,
    make_fdu_mtl,
    rows,
)


@pytest.mark.extended
class FduMtlTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["books", "MR"]
    SPLITS = {
        "train": TRAIN - 200,
        "validation": 200,
        "test": TEST,
        "unlabelled": UNLABEL,
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        make_fdu_mtl(cls.EXAMPLE_DIR, ["books", "MR"])


def build(tmp_path, **replaced: bytes):
    manual = make_fdu_mtl(tmp_path / "manual", **replaced)
    return building.prepare("fdu_mtl/books", str(tmp_path / "data"), manual)


def test_splits_in_the_order_of_the_files(tmp_path):
    builder = build(tmp_path)
    expected = [(f"books train {i}", i % 2) for i in range(TRAIN)]
    assert rows(builder, "train") == expected[:-200]
    assert rows(builder, "validation") == expected[-200:]
    assert rows(builder, "test") == [
        (f"books test {i}", i % 2) for i in range(TEST)
    ]
    assert rows(builder, "unlabelled") == [
        (f"books Unlabelled {i}", -1) for i in range(UNLABEL)
    ]


def test_features(tmp_path):
    features = build(tmp_path).info.features
    assert set(features) == {"text", "label"}
    assert features["label"].names == ["negative", "positive"]


def test_sixteen_configurations():
    assert len(CONFIGS) == 16
    assert list(Builder.builder_configs) == list(CONFIGS)
    assert "MR" in CONFIGS


def test_description_and_citation_are_found(tmp_path):
    info = build(tmp_path).info
    assert "sixteen domains" in info.description
    assert "liu-etal-2017" in info.citation


def test_warnings_stay_in_the_build(tmp_path):
    train = b"".join(line(i % 2, f"t {i}") for i in range(208))
    build(tmp_path, train=train + b"1\tcaf\xe9\n0\t\n")
    again = building.prepare("fdu_mtl/books", str(tmp_path / "data"))
    assert building.warnings_of(again) == [
        "books.task.train: 1 line not UTF-8, read as Latin-1 (1 character; "
        "first: line 209)",
        "books.task.train: 210 lines; the released file has 1,600",
        "books.task.train: 1 empty text, kept (first: line 210)",
        "books.task.test: 6 lines; the released file has 400",
        "books.task.unlabel: 4 lines; the released file has 2,000",
    ]
    assert rows(again, "validation")[-2:] == [("café", 1), ("", 0)]


def test_one_class_is_a_warning(tmp_path):
    builder = build(tmp_path, test=line(1, "a") + line(1, "b"))
    assert (
        "books.task.test: all 2 texts are of one class, positive"
        in building.warnings_of(builder)
    )
    assert rows(builder, "test") == [("a", 1), ("b", 1)]


def test_one_class_in_validation_is_a_warning(tmp_path):
    content = [line(i % 2, f"a {i}") for i in range(10)]
    content += [line(0, f"b {i}") for i in range(200)]
    warnings = building.warnings_of(build(tmp_path, train=b"".join(content)))
    assert (
        "books.task.train: all 200 texts in the last 200 are of one class, "
        "negative" in warnings
    )


@pytest.mark.parametrize(
    ("end", "content", "message"),
    [
        ("train", b"0\ta\n1 b\n", "books.task.train:2: no tab"),
        ("test", b"0\ta\n2\tb\n", "books.task.test:2: unknown label '2'"),
        ("train", b"", "books.task.train: the file is empty"),
        ("unlabel", b"", "books.task.unlabel: the file is empty"),
        ("train", line(0, "a") * 200, "200 lines.*at least 201"),
    ],
)
def test_wrong_files_are_errors_and_leave_no_build(
    tmp_path, end, content, message
):
    with pytest.raises(DataError, match=message):
        build(tmp_path, **{end: content})
    assert not (tmp_path / "data" / "fdu_mtl" / "books" / "1.0.0").exists()
    assert build(tmp_path).info.splits["test"].num_examples == TEST


@pytest.mark.parametrize("end", ["train", "test", "unlabel"])
def test_missing_file(tmp_path, end):
    manual = make_fdu_mtl(tmp_path / "manual")
    os.unlink(os.path.join(manual, f"books.task.{end}"))
    with pytest.raises(DataError, match=f"books.task.{end}: No such file"):
        building.prepare("fdu_mtl/books", str(tmp_path / "data"), manual)


REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
KNOWN_TRAIN = {
    "baby": 1300,
    "software": 1315,
    "magazines": 1370,
    "camera_photo": 1397,
    "electronics": 1398,
}


@pytest.mark.skipif(not REAL, reason="MTL_TF_MANUAL_DIR is not set")
def test_real_corpus(tmp_path):
    builders = {
        task: building.prepare(f"fdu_mtl/{task}", str(tmp_path), REAL)
        for task in CONFIGS
    }
    for task, builder in builders.items():
        splits = builder.info.splits
        assert splits["train"].num_examples == KNOWN_TRAIN.get(task, 1400)
        assert splits["validation"].num_examples == 200
        assert splits["unlabelled"].num_examples == (
            475 if task == "software" else 2000
        )
    totals = [b.info.splits["train"].num_examples for b in builders.values()]
    assert sum(totals) == 22_180
    assert any(
        "1 line not UTF-8" in text and "line 905" in text
        for text in building.warnings_of(builders["dvd"])
    )
    assert (
        "sports_outdoors.task.train: 1 empty text, kept (first: line 1121)"
        in building.warnings_of(builders["sports_outdoors"])
    )
    mr = rows(builders["MR"], "train")
    assert len(mr) == 1400
    assert not any("\ufffd" in text for text, _ in mr)
