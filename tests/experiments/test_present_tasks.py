"""Tables leave out the tasks whose corpora a user does not have."""

import types

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.experiments.present_tasks import PresentTasks
from tests.datasets.parallel_corpora import multi30k

PAIRS = ("multi30k/en-de", "multi30k/en-fr")


def present(tmp_path, partial=True):
    table = types.SimpleNamespace(name="some/1", partial=partial)
    return PresentTasks(table, str(tmp_path / "built"), str(tmp_path / "raw"))


def config(*phases, **fractions):
    pipeline = {"fractions": fractions, "mixing": {"name": "round_robin"}}
    if phases:
        pipeline["mixing"] = {"name": "phases", "phases": phases}
    return {"name": "some_row", "tasks": PAIRS, "pipeline": pipeline}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("MTL_TF_DATA_DIR", "MTL_TF_MANUAL_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_tasks_that_are_there_stay_and_others_are_named(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k", languages=("en", "de"))
    chosen = present(tmp_path)
    found = chosen(config(**{"en-fr": 0.5, "en-de": 0.1}))
    assert list(found["tasks"]) == ["multi30k/en-de"]
    assert found["pipeline"] == {
        "fractions": {"en-de": 0.1},
        "mixing": {"name": "round_robin"},
    }
    assert list(chosen.absent) == ["multi30k/en-fr"]
    assert "has no file in fr" in chosen.absent["multi30k/en-fr"]
    with pytest.raises(DataError, match=r"a part of their data \(en-fr\)"):
        chosen(config(**{"en-fr": 0.5}))


def test_phases_have_the_tasks_that_are_there(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k", languages=("en", "de"))
    both, lost = {"tasks": ["en-de", "en-fr"]}, {"tasks": ["en-fr"]}
    chosen = present(tmp_path)
    found = chosen(config({**both, "steps": 3}))
    assert chosen.thinned == {"some_row": ["en-fr"]}
    phases = found["pipeline"]["mixing"]["phases"]
    assert phases == [{"tasks": ["en-de"], "steps": 3}]
    with pytest.raises(DataError, match=r"a phase \(en-fr\) none is there"):
        present(tmp_path)(config(both, lost))


def test_phases_have_no_tasks_that_the_table_was_given_without(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k")
    (tmp_path / "mine.tsv").write_text("text\tlabel\n" + "a\tb\n" * 20)
    own = {"name": "mine", "files": {"train": str(tmp_path / "mine.tsv")}}
    given = config({"tasks": ["en-de", "mine", "en-fr"], "steps": 3})
    chosen = present(tmp_path)
    found = chosen({**given, "tasks": (PAIRS[0], own)})
    phases = found["pipeline"]["mixing"]["phases"]
    assert phases == [{"tasks": ["en-de", "mine"], "steps": 3}]
    assert chosen.thinned == {"some_row": ["en-fr"]}


def test_without_any_corpus_there_is_no_table(tmp_path):
    (tmp_path / "raw").mkdir()
    with pytest.raises(DataError, match="some/1: none of its corpora is there"):
        present(tmp_path)(config())


def test_a_table_that_needs_all_takes_the_config_as_it_is(tmp_path):
    assert present(tmp_path, partial=False)(config()) == config()
