import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets import tagged_corpora
from tests.datasets.question_corpora import rows, sizes, warnings, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
QUESTION = "What are the tags for all entities?"


def build(tmp_path, files):
    for name, content in files.items():
        write(tmp_path / "m", f"conll2003/{name}", content)
    return building.prepare(
        "decanlp_conll2003", str(tmp_path / "d"), str(tmp_path / "m")
    )


@pytest.mark.parametrize("release", ["IOB1", "IOB2"])
def test_entities_as_questions(tmp_path, release):
    builder = build(tmp_path, getattr(tagged_corpora, release))
    assert sizes(builder) == {"train": 2, "validation": 1, "test": 1}
    assert rows(builder, "train") == [
        (
            "train_0",
            QUESTION,
            "EU rejects German call",
            "EU -- organization; German -- miscellaneous",
        ),
        (
            "train_1",
            QUESTION,
            "Bonn Paris",
            "Bonn -- location; Paris -- location",
        ),
    ]
    assert "released file has 14,041" in warnings(builder)


def test_long_entities_other_types_and_none(tmp_path):
    train = (
        "Ann NNP I-NP B-PER\nBerg NNP I-NP I-PER\nsang VBD I-VP O\n"
        "May NNP I-NP B-DATE\n\nIt PRP I-NP O\n"
    )
    files = {**tagged_corpora.IOB2, "train.txt": train}
    builder = build(tmp_path, files)
    assert [row[3] for row in rows(builder, "train")] == [
        "Ann Berg -- person; May -- date",
        "None",
    ]


def test_wrong_and_missing_files(tmp_path):
    files = {**tagged_corpora.IOB2, "test.txt": "JAPAN NNP B-NP LOC\n"}
    with pytest.raises(DataError, match="test.txt:1: 'LOC' in the column ner"):
        build(tmp_path, files)
    with pytest.raises(MissingData, match="has not eng.train"):
        building.prepare("decanlp_conll2003", "", os.path.dirname(__file__))


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "conll2003")), reason="not there"
)
def test_the_released_files(tmp_path):
    builder = building.prepare("decanlp_conll2003", str(tmp_path), REAL)
    found = sizes(builder)
    assert found == {"train": 14_041, "validation": 3250, "test": 3453}
