"""Tables leave out the tasks whose corpora a user does not have."""

import json
import types

import pytest

from mtl_tf.core.errors import ConfigError, DataError
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
    return {
        "name": "some_row",
        "tasks": PAIRS,
        "pipeline": pipeline,
        "training": {"loss_weights": {}, "main_tasks": ()},
        "evaluation": {"splits": ("test",)},
        "cross_validation": {"folds": 0},
    }


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


def test_weights_are_those_of_tasks_that_are_there(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k", languages=("en", "de"))
    row = config()
    weights = {"en-de": 2.0, "en-fr": 3.0, "mistake": 1.0}
    row["pipeline"]["mixing"] = {"name": "weighted", "weights": weights}
    row["training"]["loss_weights"] = dict(weights)
    found = present(tmp_path)(row)
    # A name that is no task at all is refused later.
    left = {"en-de": 2.0, "mistake": 1.0}
    assert found["pipeline"]["mixing"]["weights"] == left
    assert found["training"]["loss_weights"] == left


def test_main_tasks_are_those_that_are_there(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k", languages=("en", "de"))
    row = config()
    row["training"]["main_tasks"] = ("en-fr", "en-de", "mistake")
    found = present(tmp_path)(row)
    assert found["training"]["main_tasks"] == ["en-de", "mistake"]
    row["training"]["main_tasks"] = ("en-fr",)
    told = r"of training.main_tasks \(en-fr\) none is there\..* no file in fr"
    with pytest.raises(DataError, match=told):
        present(tmp_path)(row)


def test_phases_have_the_tasks_that_are_there(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k", languages=("en", "de"))
    both, lost = {"tasks": ["en-de", "en-fr"]}, {"tasks": ["en-fr"]}
    chosen = present(tmp_path)
    found = chosen(config({**both, "steps": 3}))
    assert chosen.thinned == {"some_row": ["en-fr"]}
    phases = found["pipeline"]["mixing"]["phases"]
    assert phases == [{"tasks": ["en-de"], "steps": 3}]
    chosen = present(tmp_path)
    why = r"a phase \(en-fr\) none is there. multi30k/en-fr: .*no file in fr"
    with pytest.raises(DataError, match=why):
        chosen(config(both, lost))
    assert chosen.thinned == {"some_row": ["en-fr"]}


def test_phases_have_no_tasks_that_the_table_was_given_without(tmp_path):
    multi30k(tmp_path / "raw" / "multi30k")
    (tmp_path / "mine.tsv").write_text("text\tlabel\n" + "a\tb\n" * 20)
    files = dict.fromkeys(("train", "test"), str(tmp_path / "mine.tsv"))
    own = {"name": "mine", "files": files}
    given = config({"tasks": ["en-de", "mine", "en-fr"], "steps": 3})
    chosen = present(tmp_path)
    found = chosen({**given, "tasks": (PAIRS[0], own)})
    phases = found["pipeline"]["mixing"]["phases"]
    assert phases == [{"tasks": ["en-de", "mine"], "steps": 3}]
    assert chosen.thinned == {"some_row": ["en-fr"]}


def wikisql(folder, *names):
    """Ten questions in each of the files that are named."""
    folder.mkdir()
    query = {"sel": 0, "agg": 0, "conds": []}
    question = {"table_id": "7", "question": "Who?", "sql": query}
    table = {"id": "7", "header": ["Goat"], "types": ["text"]}
    for name in names:
        text = f"{json.dumps(question)}\n" * 10
        (folder / f"{name}.jsonl").write_text(text)
        (folder / f"{name}.tables.jsonl").write_text(f"{json.dumps(table)}\n")


def scored(*splits, **fields):
    return {**config(), "evaluation": {"splits": splits}, **fields}


def test_splits_of_a_corpus_can_be_divided(tmp_path):
    wikisql(tmp_path / "raw", "dev")
    divided = {
        "name": "divided",
        "type": "question_answering",
        "dataset": "wikisql",
        "splits": {"train": "validation[:8]", "validation": "validation[8:]"},
    }
    tasks = ("decanlp/wikisql", divided)
    chosen = present(tmp_path)
    assert chosen(scored("validation", tasks=tasks))["tasks"] == [divided]
    how = chosen.absent["decanlp/wikisql"]
    assert "no train split: of its files only those of validation" in how
    assert "such as 'validation[:80%]' and 'validation[80%:]'" in how
    with pytest.raises(ConfigError, match="divided has no test split: .*scor"):
        chosen(scored("validation", "test", tasks=tasks))
    # Folds make a split of their own.
    folded = scored("test", tasks=tasks, cross_validation={"folds": 3})
    assert chosen(folded)["tasks"] == [divided]


def test_a_corpus_without_a_split_that_is_scored_is_left_out(tmp_path):
    wikisql(tmp_path / "raw", "dev", "train")
    chosen, tasks = present(tmp_path), ("decanlp/wikisql",)
    assert chosen(scored("validation", tasks=tasks))["tasks"] == [*tasks]
    assert not chosen.absent
    with pytest.raises(DataError, match="wikisql has no test split: .* train"):
        chosen(scored("validation", "test", tasks=tasks))


def test_without_any_corpus_there_is_no_table(tmp_path):
    (tmp_path / "raw").mkdir()
    with pytest.raises(DataError, match="some/1: none of its corpora is there"):
        present(tmp_path)(config())


def test_a_table_that_needs_all_takes_the_config_as_it_is(tmp_path):
    assert present(tmp_path, partial=False)(config()) == config()
