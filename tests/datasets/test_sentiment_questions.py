import os

import pytest

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.question_corpora import rows, sizes, warnings, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
QUESTION = "Is this sentence positive or negative?"
TREES = {
    "train.txt": "(3 (2 It) (4 (3 's) (4 Good)))\n(2 so)\n(0 bad)\n",
    "dev.txt": "(1 (2 so) (1 poor))\n(4 great)\n",
    "test.txt": "(0 awful)\n(3 (2 not) (1 bad))\n",
}


def test_sst_as_questions(tmp_path):
    manual = tmp_path / "m"
    for name, content in TREES.items():
        write(manual, f"sst/trees/{name}", content)
    builder = building.prepare("decanlp_sst", str(tmp_path / "d"), str(manual))
    assert sizes(builder) == {"train": 2, "validation": 2, "test": 2}
    assert rows(builder, "train") == [
        ("train_0", QUESTION, "It 's Good", "positive"),
        ("train_1", QUESTION, "bad", "negative"),
    ]
    assert "3 lines; the released file has 8,544" in warnings(builder)
    with pytest.raises(DataError, match="has not train.txt, dev.txt"):
        building.prepare("decanlp_sst", "", os.path.dirname(__file__))


def kotzias(tmp_path, content, name="imdb_labelled.txt"):
    manual = write(tmp_path / "m", name, content)
    return building.prepare("kotzias_reviews/imdb", str(tmp_path / "d"), manual)


def test_review_sentences_as_questions(tmp_path):
    content = (
        'A "fine one.  \t1\nSlow\u0085 and\tdull,  really. \t0 \r\n\n  \t1\n'
    ).encode() + b"Caf\xe9!\t1"
    builder = kotzias(tmp_path, content)
    assert rows(builder, "test") == [
        ("test_0", QUESTION, 'A "fine one.', "positive"),
        ("test_1", QUESTION, "Slow\u0085 and\tdull,  really.", "negative"),
        ("test_2", QUESTION, "", "positive"),
        ("test_3", QUESTION, "Caf\u00e9!", "positive"),
    ]
    found = warnings(builder)
    assert "1 blank line skipped" in found
    assert "1 empty sentence, kept" in found
    assert "1 line not UTF-8, read as Latin-1" in found
    assert "4 sentences; the released file has 1,000" in found


def test_wrong_files_of_review_sentences(tmp_path):
    with pytest.raises(DataError, match="txt:2: no tab in the line 'b 0'"):
        kotzias(tmp_path, "a\t1\nb 0\n")
    with pytest.raises(DataError, match="txt:1: label '2' in .*0 or 1"):
        kotzias(tmp_path, "a\t2\n")
    with pytest.raises(MissingData, match="has none of imdb_labelled.txt"):
        kotzias(tmp_path / "other", "a\t1\n", "yelp_labelled.txt")
    with pytest.raises(ConfigError, match="did you mean 'yelp'"):
        building.prepare("kotzias_reviews/yelpp", "", "")


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "sst")), reason="not there"
)
def test_the_released_files_of_sst(tmp_path):
    builder = building.prepare("decanlp_sst", str(tmp_path), REAL)
    assert sizes(builder) == {"train": 6920, "validation": 872, "test": 1821}
    assert "the released file has" not in warnings(builder)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "kotzias_reviews")),
    reason="not there",
)
@pytest.mark.parametrize("site", ["imdb", "amazon", "yelp"])
def test_the_released_review_sentences(tmp_path, site):
    builder = building.prepare(f"kotzias_reviews/{site}", str(tmp_path), REAL)
    assert sizes(builder) == {"test": 1000}
