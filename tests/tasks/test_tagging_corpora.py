"""Tagging tasks on corpora and other datasets of TFDS."""

import os

import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.registry import group_of, present, resolve
from tests.datasets.tagged_corpora import CONLL2000, IOB1, UD, write
from tests.tasks.tagging import TRAIN, entry, rows


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """The folders of builds and of official files."""
    manual = tmp_path_factory.mktemp("manual")
    for name, files in (
        ("conll2000", CONLL2000),
        ("conll2003", IOB1),
        ("ud_pos", UD),
    ):
        write(manual / name, files)
    return str(tmp_path_factory.mktemp("data")), str(manual)


def test_our_corpora_are_tasks(corpora):
    names = ["conll2000", "conll2003", "ud_pos", "ud_pos/xpos"]
    tasks = resolve(names, *corpora)
    assert [task.name for task in tasks] == ["chunk", "ner", "upos", "xpos"]
    assert [task.settings["scheme"] for task in tasks] == [
        "iob2",
        "iob2",
        "",
        "",
    ]
    assert rows(tasks[1], "train")[1] == ("Bonn Paris", "B-LOC B-LOC")
    assert "B-PER" not in tasks[1].labels
    group = group_of("conll2003/chunk", *corpora)
    assert [task.name for task in group.tasks] == ["chunk"]


def test_tells_which_corpora_are_there(corpora, tmp_path):
    data_dir, manual_dir = corpora
    os.symlink(f"{manual_dir}/conll2000", tmp_path / "conll2000")
    words = entry(tmp_path, train=TRAIN * 3)
    there, missing = present(
        ["conll2003", "conll2000", words, "ud_pos/xpos"],
        data_dir,
        str(tmp_path),
    )
    assert there == ["conll2000/chunk", words]
    assert list(missing) == ["conll2003/ner", "ud_pos/xpos"]
    assert "has not eng.train" in missing["conll2003/ner"]
    assert "holds no treebanks" in missing["ud_pos/xpos"]
    # What is there but wrong is a mistake, not a corpus that one lacks.
    (tmp_path / "conll2003").mkdir()
    (tmp_path / "conll2003" / "eng.train").write_text("a b c O\n")
    with pytest.raises(DataError, match="eng.testa: No such.*leave this"):
        present(["conll2003"], data_dir, str(tmp_path))
    with pytest.raises(DataError, match="nothing.conll"):
        lost = {**words, "files": {"train": str(tmp_path / "nothing.conll")}}
        present([lost], data_dir, str(tmp_path))


def test_any_dataset_with_two_sequences(corpora):
    made = {
        "name": "own",
        "type": "tagging",
        "dataset": "conll2003/chunk",
        "splits": {"train": "train", "test": "test[:100%]"},
        "columns": {"tags": "ner"},
        "train_scheme": "iobes",
    }
    (ner,) = resolve([made], *corpora)
    assert rows(ner, "test") == [("JAPAN", "S-LOC")]
    words = made | {"columns": {"tags": "tokens", "tokens": "tags"}}
    with pytest.raises(ConfigError, match="cannot be a sequence of tokens"):
        resolve([words], *corpora)
    with pytest.raises(ConfigError, match="no feature 'tagz' for columns.tags"):
        resolve([made | {"columns": {"tags": "tagz"}}], *corpora)
    text = made | {"dataset": "sample_reviews/books", "columns": {}}
    with pytest.raises(ConfigError, match="no feature 'tokens'"):
        resolve([text], *corpora)


@pytest.mark.extended
def test_folds_of_sentences(corpora):
    tested = set()
    for fold in range(3):
        (chunks,) = resolve(["conll2000"], *corpora, {"folds": 3, "fold": fold})
        found = {text for text, _ in rows(chunks, "test")}
        assert not found & {text for text, _ in rows(chunks, "train")}
        tested |= found
    assert len(tested) == 20
