import pytest

from mtl_tf.datasets import building
from mtl_tf.datasets.statistics import SplitStatistics, statistics
from tests.datasets import catalogue  # noqa: F401  (registers datasets)
from tests.datasets.corpora import line, make_fdu_mtl


def test_counts(tmp_path):
    manual = make_fdu_mtl(
        tmp_path / "manual",
        test=line(1, "a b c") + line(0, "") + line(1, "one"),
        unlabel=b"a b\nc d\n",
    )
    builder = building.prepare("fdu_mtl/books", str(tmp_path / "data"), manual)
    found = {split.split: split for split in statistics(builder)}
    assert list(found) == ["train", "validation", "test", "unlabelled"]
    assert found["validation"].labels == {"negative": 100, "positive": 100}
    assert found["test"] == SplitStatistics(
        "test", 3, pytest.approx(4 / 3), {"negative": 1, "positive": 2}
    )
    assert found["unlabelled"] == SplitStatistics(
        "unlabelled", 2, 2.0, {"negative": 0, "positive": 0}
    )


def test_dataset_without_labels(tmp_path):
    builder = building.prepare("plain_catalogue", str(tmp_path))
    assert statistics(builder) == [SplitStatistics("train", 3, 3.0, None)]


def test_dataset_with_two_texts(tmp_path):
    builder = building.prepare("two_texts_catalogue", str(tmp_path))
    assert statistics(builder) == [SplitStatistics("train", 1, None, None)]
