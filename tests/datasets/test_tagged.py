import os
import shutil
import tempfile

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import building
from mtl_tf.datasets.conll2000 import conll2000_dataset_builder
from mtl_tf.datasets.conll2003 import conll2003_dataset_builder
from mtl_tf.datasets.statistics import statistics
from mtl_tf.datasets.ud_pos import ud_pos_dataset_builder
from tests.datasets.tagged_corpora import (
    CONLL2000,
    IOB1,
    IOB2,
    UD,
    word,
    write,
)


def build(tmp_path, name, files, **settings):
    manual = write(tmp_path / "manual", files, **settings)
    return building.prepare(name, str(tmp_path / "data"), manual)


def rows(builder, split, *columns):
    """Tokens and named tags of every sentence."""
    features = builder.info.features
    return [
        (
            " ".join(token.decode() for token in example["tokens"]),
            *(
                " ".join(features[c].feature.names[i] for i in example[c])
                for c in columns or ("tags",)
            ),
        )
        for example in builder.as_dataset(split=split).as_numpy_iterator()
    ]


class Conll2000Test(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = conll2000_dataset_builder.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["chunk"]
    SPLITS = {"train": 18, "validation": 2, "test": 2}
    FILES = CONLL2000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.EXAMPLE_DIR)
        write(cls.EXAMPLE_DIR, cls.FILES)


@pytest.mark.extended
class Conll2003Test(Conll2000Test):
    DATASET_CLASS = conll2003_dataset_builder.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["ner"]
    SPLITS = {"train": 2, "validation": 1, "test": 1}
    FILES = IOB1


@pytest.mark.extended
class UdPosTest(Conll2000Test):
    DATASET_CLASS = ud_pos_dataset_builder.Builder
    BUILDER_CONFIG_NAMES_TO_TEST = ["xpos"]
    SPLITS = {"train": 2, "validation": 1, "test": 1}
    FILES = UD


def test_conll2000(tmp_path):
    chunk = build(tmp_path, "conll2000/chunk", CONLL2000)
    assert rows(chunk, "test", "tags", "pos") == [
        ("He reads books .", "B-NP B-VP B-NP O", "PRP VBZ NNS ."),
        ("Well", "B-INTJ", "UH"),
    ]
    names = chunk.info.features["tags"].feature.names
    assert names == ["O", "B-INTJ", "B-NP", "B-VP", "I-NP"]
    whole = rows(chunk, "train") + rows(chunk, "validation")
    # White space that is not a space or a tab is part of its token.
    assert ("# 1.5 u\u00a0v", "B-NP I-NP I-NP") in whole and len(whole) == 20
    pos = build(tmp_path, "conll2000/pos", CONLL2000, packed=True)
    assert rows(pos, "validation") == rows(chunk, "validation", "pos")
    assert building.warnings_of(chunk) == [
        "train.txt: 20 sentences and 79 tokens; the released file has 8,936 "
        "and 211,727",
        "test.txt: 2 sentences and 5 tokens; the released file has 2,012 and "
        "47,377",
    ]
    split = statistics(chunk)[-1]
    assert (split.examples, split.tokens) == (2, 2.5)
    assert split.labels["B-NP"] == 2 and split.labels["O"] == 1


def test_conll2003_of_both_releases_is_the_same(tmp_path):
    first = build(tmp_path / "1", "conll2003/ner", IOB1)
    second = build(tmp_path / "2", "conll2003/ner", IOB2, packed=True)
    for split in ("train", "validation", "test"):
        columns = ("tags", "chunk", "pos")
        assert rows(first, split, *columns) == rows(second, split, *columns)
    assert rows(first, "train", "tags", "chunk") == [
        ("EU rejects German call", "B-ORG O B-MISC O", "B-NP B-VP B-NP I-NP"),
        ("Bonn Paris", "B-LOC B-LOC", "B-NP B-NP"),
    ]
    assert set(second.info.metadata["sources"]) == {
        "train.txt.gz",
        "valid.txt.gz",
        "test.txt.gz",
    }
    assert not any("not as" in x for x in building.warnings_of(first))
    chunk = build(tmp_path / "1", "conll2003/chunk", IOB1)
    assert rows(chunk, "train") == rows(first, "train", "chunk")


def test_short_names_of_conll2003_and_slips_in_it(tmp_path):
    names = {"eng.train": "train", "eng.testa": "testa", "eng.testb": "testb"}
    files = {names[name]: text for name, text in IOB1.items()}
    wrong = "A NNP B-NP B-X\nB NNP I-NP I-X\nC NN B-NP B-X\n\nD NN B-NP I-X\n"
    builder = build(tmp_path, "conll2003/ner", files, train=wrong)
    assert rows(builder, "train")[1] == ("D", "B-X")
    assert (
        "train: 1 ner tag not as iob2 writes spans; read as conlleval reads "
        "them"
    ) in building.warnings_of(builder)


def test_ud_skips_ranges_and_empty_nodes(tmp_path):
    upos = build(tmp_path, "ud_pos/upos", UD)
    assert rows(upos, "train", "tags", "xpos") == [
        ("do n't #", "AUX PART SYM", "VB RB NN"),
        ("10 000", "NUM", "CD"),
    ]
    assert len(next(iter(upos.as_dataset(split="train")))["tokens"]) == 3
    xpos = build(tmp_path, "ud_pos/xpos", UD)
    assert rows(xpos, "validation") == [("a", "DT")]


def test_the_folder_of_a_treebank_is_found(tmp_path):
    where = tmp_path / "manual"
    write(where / "UD_Xx-Tree", UD)
    builder = build(tmp_path, "ud_pos/upos", {"other.txt": "x"})
    assert builder.info.splits["train"].num_examples == 2
    write(where / "UD_Xx-Wood", {"xx_wood-ud-test.conllu": "x"})
    with pytest.raises(DataError, match="holds 2 treebanks .*UD_Xx-Tree/xx_t"):
        build(tmp_path, "ud_pos/upos", {})
    with pytest.raises(DataError, match="holds no treebanks"):
        build(tmp_path / "none", "ud_pos/upos", {})


def test_a_divided_training_set_is_joined(tmp_path):
    files = dict(UD)
    whole = files.pop("xx_tree-ud-train.conllu")
    files["xx_tree-ud-train-b-1.conllu"] = whole
    files["xx_tree-ud-train-a-2.conllu"] = word(1, "first", "X", "FW")
    builder = build(tmp_path, "ud_pos/upos", files)
    tokens = [
        row["tokens"].tolist()
        for row in builder.as_dataset("train").as_numpy_iterator()
    ]
    assert len(tokens) == 3
    assert tokens[0] == [b"first"] and tokens[1][0] == b"do"


def test_a_treebank_without_xpos(tmp_path):
    train = word(1, "a", "X", "_") + word(2, "b", "X", "_")
    settings = {"train": train, "dev": train, "test": train}
    build(tmp_path, "ud_pos/upos", UD, **settings)
    with pytest.raises(DataError, match="the column XPOS is empty"):
        build(tmp_path, "ud_pos/xpos", UD, **settings)


@pytest.mark.parametrize(
    ("name", "files", "train", "message"),
    [
        ("conll2000/chunk", CONLL2000, "a b O\n\nd e\n", ":3: 2 columns"),
        ("conll2000/chunk", CONLL2000, "a B c d\n", ":1: 4 columns, but 3"),
        ("conll2000/chunk", CONLL2000, "a B C-NP\n", ":1: 'C-NP' in the col"),
        ("conll2000/chunk", CONLL2000, "a B O\n", "at least 10 are needed"),
        ("conll2000/chunk", CONLL2000, "-DOCSTART- O\n", "are no sentences"),
        ("conll2000/chunk", CONLL2000, "", "train.txt: the file is empty"),
        ("conll2003/ner", IOB1, "a b c O\nx y z\n", "eng.train:2: 3 columns"),
        ("ud_pos/upos", UD, "1\ta\n", "train.conllu:1: 2 columns, but 10"),
        ("ud_pos/upos", UD, word(2, "a", "X"), ":1: the id '2' where word 1"),
        ("ud_pos/upos", UD, word("x", "a", "X"), ":1: the id 'x' where word 1"),
        ("ud_pos/upos", UD, word(1, "", "X"), ":1: column 1 is empty"),
    ],
)
def test_wrong_files(tmp_path, name, files, train, message):
    with pytest.raises(DataError, match=message):
        build(tmp_path, name, files, train=train)


def test_missing_and_badly_packed_files(tmp_path):
    with pytest.raises(DataError, match="has not train.txt, test.txt .each"):
        build(tmp_path / "1", "conll2000/chunk", {})
    with pytest.raises(DataError, match="nor train.txt, valid.txt, test.txt"):
        build(tmp_path / "1", "conll2003/ner", {})
    train = {"train.txt": CONLL2000["train.txt"]}
    with pytest.raises(DataError, match="cannot read .*test.txt: No such"):
        build(tmp_path / "2", "conll2000/chunk", train)
    write(tmp_path / "3" / "manual", {"test.txt.gz": "no gzip"})
    with pytest.raises(DataError, match="test.txt.gz cannot be unpacked: Not"):
        build(tmp_path / "3", "conll2000/chunk", train)


REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "conll2000")),
    reason="CoNLL-2000 is not in MTL_TF_MANUAL_DIR",
)
def test_real_conll2000(tmp_path):
    builder = building.prepare("conll2000/chunk", str(tmp_path), REAL)
    sizes = {k: v.num_examples for k, v in builder.info.splits.items()}
    assert sizes == {"train": 8043, "validation": 893, "test": 2012}
    assert building.warnings_of(builder) == []
    assert len(builder.info.features["tags"].feature.names) == 23


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "ud_english_ewt")),
    reason="UD English EWT is not in MTL_TF_MANUAL_DIR",
)
def test_real_treebank(tmp_path):
    folder = os.path.join(REAL, "ud_english_ewt")
    builder = building.prepare("ud_pos/xpos", str(tmp_path), folder)
    sizes = {k: v.num_examples for k, v in builder.info.splits.items()}
    assert sizes == {"train": 12544, "validation": 2001, "test": 2077}
    assert building.warnings_of(builder) == []
    assert len(builder.info.features["tags"].feature.names) == 49
