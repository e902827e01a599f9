"""Where the files of a corpus are looked for."""

import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from mtl_tf.datasets.corpus_build import builder_class
from mtl_tf.datasets.corpus_folders import corpus_directory, packed, places


def make(directory, *names):
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_directory_of_the_corpora_or_of_the_corpus(tmp_path):
    inner = tmp_path / "fdu_mtl"
    inner.mkdir()
    assert corpus_directory(str(tmp_path), "fdu_mtl") == str(inner)
    assert corpus_directory(str(inner), "fdu_mtl") == str(inner)


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "corpora").mkdir()
    found = corpus_directory("~/corpora", "fdu_mtl")
    assert found == str(tmp_path / "corpora")


def test_missing_directory(tmp_path):
    with pytest.raises(DataError, match="nowhere: No such file.*--manual_dir"):
        corpus_directory(str(tmp_path / "nowhere"), "fdu_mtl")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_directory(tmp_path):
    tmp_path.chmod(0)
    with pytest.raises(DataError, match="Permission denied"):
        corpus_directory(str(tmp_path), "fdu_mtl")
    tmp_path.chmod(0o700)


def test_a_file_as_directory(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="Not a directory"):
        corpus_directory(str(tmp_path / "file"), "fdu_mtl")


def test_a_folder_is_found_in_any_case_and_depth(tmp_path):
    make(tmp_path, "Woz/readme", "Woz/data/v2/a.json", "Woz/data/v2/b.json.gz")
    make(tmp_path, "Woz/data/old/a.json", "Woz/__MACOSX/b.json")
    holds = [["a.json", "a.txt"], ["b.*"]]
    found = corpus_directory(str(tmp_path), "woz", holds)
    assert found == str(tmp_path / "Woz/data/v2")
    # Without its files, the corpus's own folder is named in messages.
    assert corpus_directory(str(tmp_path), "woz", [["c"]]) == (
        str(tmp_path / "Woz")
    )


def test_an_empty_folder_of_a_better_name_hides_nothing(tmp_path):
    make(tmp_path, "iwslt2016/2016-01/texts/readme")
    make(tmp_path, "iwslt/en-de/train.en", "train.en")
    names = ("iwslt2016", "iwslt")
    found = corpus_directory(str(tmp_path), names, [["train.en"]])
    assert found == str(tmp_path / "iwslt/en-de")


def test_what_stands_deeper_in_a_folder_of_another_name_is_not_taken(tmp_path):
    make(tmp_path, "other/train.txt", "data/train.txt")
    holds = [["train.txt"]]
    assert corpus_directory(str(tmp_path), "sst", holds) == str(tmp_path)
    found = corpus_directory(str(tmp_path), "sst", holds, ["data"])
    assert found == str(tmp_path / "data")
    assert places(str(tmp_path), ["sst"]) == [str(tmp_path)]


def test_the_preferred_folder_wins_with_fewer_files(tmp_path):
    make(tmp_path, "qa_srl/expanded/train", "qa_srl/expanded/dev")
    make(tmp_path, "qa_srl/orig/dev")
    holds = [["train"], ["dev"]]
    found = corpus_directory(str(tmp_path), "qa_srl", holds, (), "orig")
    assert found == str(tmp_path / "qa_srl/orig")


def test_archives_are_those_of_the_corpus(tmp_path):
    make(tmp_path, "multinli_1.0.zip", "WOZ.tar.gz", "woz/data.tar.bz2")
    make(tmp_path, "woz/a.json")
    found = packed(str(tmp_path), ["woz"])
    expected = [tmp_path / "woz/data.tar.bz2", tmp_path / "WOZ.tar.gz"]
    assert found == list(map(str, expected))


@pytest.mark.parametrize("corpus", building.OWN)
def test_a_corpus_that_is_not_there_is_missing(tmp_path, corpus):
    """So a group can do without it."""
    builder = builder_class(corpus)
    if not builder.MANUAL_DOWNLOAD_INSTRUCTIONS:
        pytest.skip("it needs no files")
    name = building.expand(corpus)[0]
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingData):
        building.prepare(name, str(tmp_path / "d"), str(tmp_path / "empty"))
    make(tmp_path, f"packed/{builder.FOLDERS[0]}/release.zip")
    with pytest.raises(MissingData, match="unpack it first: .*release.zip"):
        building.prepare(name, str(tmp_path / "d"), str(tmp_path / "packed"))


@pytest.mark.parametrize(
    ("name", "folder", "files"),
    [
        ("fdu_mtl/books", "fdu_mtl/mtl-dataset", ["books.task.train"]),
        ("europarl/fr-en", "europarl/training", ["europarl-v7.fr-en.fr"]),
        ("wikisql", "wikisql/WikiSQL/data", ["dev.jsonl", "dev.tables.jsonl"]),
        ("woz", "woz/data/woz", ["woz_test_en.json"]),
        ("subj", "subj/rotten_imdb", ["plot.tok.gt9.5000"]),
        ("sst/sst2", "sst/trainDevTestTrees_PTB/trees", ["train.txt"]),
        ("conll2003/ner", "CoNLL-2003", ["train.txt", "validation.txt"]),
        ("conll2003/ner", "conll2003/ner", ["eng.testb"]),
        ("qa_zre", "zre/relation_splits", ["test.0"]),
        ("decanlp_multi_nli", "mnli/MNLI/original", ["multinli_1.0_train.txt"]),
        (
            "multi30k/en-de",
            "multi30k-dataset/data/task1/tok",
            ["val.lc.norm.tok.de", "val.lc.norm.tok.en"],
        ),
    ],
)
def test_folders_that_releases_unpack_to(tmp_path, name, folder, files):
    make(tmp_path, *(f"{folder}/{file}" for file in files))
    corpus, _, config = name.partition("/")
    found = builder_class(corpus).source_files(config, str(tmp_path))
    paths = set(found.values())
    assert paths >= {str(tmp_path / folder / file) for file in files}
