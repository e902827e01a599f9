import os
import shutil
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.datasets import building
from mtl_tf.datasets.europarl import europarl_dataset_builder
from mtl_tf.datasets.multi30k import multi30k_dataset_builder
from mtl_tf.datasets.statistics import statistics
from tests.datasets.parallel_corpora import europarl, multi30k, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


def pairs(builder, split):
    dataset = builder.as_dataset(split=split)
    return [
        (example["source"].decode(), example["target"].decode())
        for example in dataset.as_numpy_iterator()
    ]


@pytest.mark.extended
class Multi30kTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = multi30k_dataset_builder.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["en-de"]
    SPLITS = {"train": 5, "validation": 2, "test_2016_flickr": 3}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        multi30k(cls.EXAMPLE_DIR)


@pytest.mark.extended
class EuroparlTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = europarl_dataset_builder.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["fr-en"]
    SPLITS = {"train": 176, "validation": 9, "test": 15}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        numbers = range(200)
        europarl(
            cls.EXAMPLE_DIR,
            [f"line {i}\n" for i in numbers],
            [f"ligne {i}\n" for i in numbers],
        )


def test_multi30k_in_order_with_its_test_sets(tmp_path):
    manual = multi30k(tmp_path / "data/task1/tok", True, ("en", "de", "fr"))
    write(manual, "test_2017_mscoco.lc.norm.tok.en", "a\n")
    write(manual, "test_2017_mscoco.lc.norm.tok.de", "b\n")
    data = str(tmp_path / "build")
    german = building.prepare("multi30k/en-de", data, str(tmp_path))
    assert set(german.info.splits) == {
        "train",
        "validation",
        "test_2016_flickr",
        "test_2017_mscoco",
    }
    assert pairs(german, "validation") == [
        ("val en 0", "val de 0"),
        ("val en 1", "val de 1"),
    ]
    assert "train.lc.norm.tok.en.gz: 5 lines; the released file has 29,000" in (
        building.warnings_of(german)
    )
    french = building.prepare("multi30k/en-fr", data, str(tmp_path))
    assert "test_2017_mscoco" not in french.info.splits
    assert statistics(french)[0].tokens == 3.0


def test_pairs_with_an_empty_side_are_skipped_and_counted(tmp_path):
    # U+0085 ends no line, and a byte-order mark is no text.
    english = "\ufeffa\x85b\n \nc\n\nd\r\n".encode()
    german = b"A\nB\n\nD\n\xfcber\n"
    manual = multi30k(tmp_path / "m", train_en=english, train_de=german)
    builder = building.prepare("multi30k/en-de", str(tmp_path / "d"), manual)
    assert pairs(builder, "train") == [("a\x85b", "A"), ("d", "über")]
    warnings = "\n".join(building.warnings_of(builder))
    assert "3 pairs with an empty text skipped (2 empty in the" in warnings
    assert "1 in the second; first: line 2)" in warnings
    assert "train.lc.norm.tok.de: 1 line not UTF-8" in warnings


def test_misaligned_files_name_both_counts(tmp_path):
    manual = multi30k(tmp_path / "m", val_de="a\nb\n\n")
    with pytest.raises(DataError) as error:
        building.prepare("multi30k/en-de", str(tmp_path / "d"), manual)
    assert "val.lc.norm.tok.en has 2 lines" in str(error.value)
    assert "val.lc.norm.tok.de has 3" in str(error.value)


def test_files_without_pairs_and_without_files(tmp_path):
    manual = multi30k(tmp_path / "m", val_en="a\n\n", val_de="\nb\n")
    with pytest.raises(DataError, match="in no line both"):
        building.prepare("multi30k/en-de", str(tmp_path / "d"), manual)
    multi30k(tmp_path / "n")
    with pytest.raises(MissingData, match="has no file in fr, such as .*ok.fr"):
        building.prepare("multi30k/en-fr", "", str(tmp_path / "n"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingData, match="such as train.lc.norm.tok.en"):
        building.prepare("multi30k/en-de", "", str(tmp_path / "empty"))
    os.unlink(tmp_path / "n" / "train.lc.norm.tok.en")
    with pytest.raises(DataError, match="cannot read .*train.lc.n") as caught:
        building.prepare("multi30k/en-de", "", str(tmp_path / "n"))
    assert caught.type is DataError  # incomplete is not missing
    with pytest.raises(ConfigError, match="did you mean 'en-fr'"):
        building.prepare("multi30k/en-f", "", manual)


def test_europarl_goes_both_ways_and_draws_by_the_english_text(tmp_path):
    numbers = [i % 300 for i in range(600)]  # all sentences twice
    manual = europarl(
        tmp_path / "europarl",
        [f"Line {i}\n" for i in numbers],
        [f"ligne {i}\n" for i in numbers],
    )
    data = str(tmp_path / "build")
    there = building.prepare("europarl/en-fr", data, str(tmp_path))
    back = building.prepare("europarl/fr-en", data, manual)
    sides = {}
    for split in ("train", "validation", "test"):
        found = pairs(there, split)
        assert found == [(b, a) for a, b in pairs(back, split)]
        sides[split] = set(found)
    assert sum(map(len, sides.values())) == 300  # no sentence on two sides
    assert 5 < len(sides["test"]) < 30
    assert 5 < len(sides["validation"]) < 30


def test_europarl_needs_pairs_to_draw_from(tmp_path):
    manual = europarl(tmp_path, ["a\n"] * 39, ["b\n"] * 39)
    with pytest.raises(DataError, match="39 pairs.*at least 40"):
        building.prepare("europarl/en-fr", str(tmp_path / "d"), manual)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "multi30k")), reason="not there"
)
def test_the_released_files_of_multi30k(tmp_path):
    builder = building.prepare("multi30k/en-cs", str(tmp_path), REAL)
    sizes = {s: x.num_examples for s, x in builder.info.splits.items()}
    assert sizes.pop("train") == 29_000
    assert sizes.pop("validation") == 1014
    assert sizes.pop("test_2016_flickr") == 1000
    assert not building.warnings_of(builder)
