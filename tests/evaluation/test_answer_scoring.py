import dataclasses
import json

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import (
    answer_scoring,
    evaluator,
    scored_examples,
    scoring,
    significance,
)
from mtl_tf.evaluation.answer_scoring import AnswerScoring
from mtl_tf.evaluation.metrics import answer_metrics
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.tables import remarks, tables
from mtl_tf.tasks.splits.groups import GROUPS

NAME = "answers"
TYPE = AnswerScoring()


def task(metrics=("nf1", "em"), **changes):
    labels = [
        {"answers": ["Paris"], "scoring": {}},
        {"answers": ["the Rhine", "Rhine river"], "scoring": "{}"},
        {"answers": ["blue"]},
        "red",
    ]
    return TaskPredictions(
        name="qa",
        labels=labels,
        predictions=["paris", "a rhine", "", "red wine"],
        class_names=(),
        type=NAME,
        metrics=metrics,
        **changes,
    )


def test_parts_are_scored_by_the_tasks_metrics():
    scorer = TYPE.scorer(task())
    assert scorer.size == 4
    whole = scorer.part(np.ones(4, bool))
    assert whole == {
        "examples": 4,
        "nf1": pytest.approx(100 * (1 + 1 + 0 + 2 / 3) / 4),
        "em": 25.0,
    }
    drawn = scorer.part(np.array([0, 0, 3]))
    assert drawn["examples"] == 3
    assert drawn["em"] == pytest.approx(200 / 3)
    nothing = scorer.part(np.zeros(4, bool))
    assert nothing == {"examples": 0, "nf1": None, "em": None}
    assert scorer.details() == {}


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        ([""] * 4, "on qa, 4 of 4 predictions are empty: the model has"),
        (["no", "no", "no", "red"], "3 of 4 predictions are the same text"),
        (["no", "no", "", "red"], None),
        # Rightly so for half of them.
        (["paris", "the rhine", "paris", "paris"], None),
    ],
)
def test_one_answer_to_most_questions_is_told(said, warning):
    answered = dataclasses.replace(
        task(), predictions=said, type="question_answering"
    )
    answered.labels[2] = {"answers": ["London", "Paris"]}
    found = remarks.warnings(evaluator.evaluate([answered], "test"))
    assert len(found) == bool(warning)
    assert not warning or warning in found[0]


def test_one_answer_alone_repeats_nothing():
    assert scoring.repeated(["no"], lambda text: 0) == {}
    assert scoring.repeated(["no"] * 2, lambda text: 0)["repeated"] == {
        "text": "no",
        "count": 2,
    }


def test_rouge_comes_with_its_three_parts():
    scores = TYPE.scorer(task(("rouge",))).part(np.arange(4))
    three = [scores[f"rouge_{one}"] for one in "12l"]
    assert scores["rouge"] == pytest.approx(np.mean(three))
    assert TYPE.scorer(task(("rouge",))).part(np.zeros(4, bool)) == {
        "examples": 0,
        **dict.fromkeys(("rouge", "rouge_1", "rouge_2", "rouge_l")),
    }


def test_bleu_comes_with_its_signature_and_takes_a_tokenizer():
    scorer = TYPE.scorer(task(("bleu",), settings={"bleu_tokenizer": "none"}))
    signature = scorer.details()["signatures"]["bleu"]
    assert "tok:none" in signature and "case:lc" in signature
    assert "nrefs:var" in signature
    assert (
        "tok:13a"
        in TYPE.scorer(task(("bleu",))).details()["signatures"]["bleu"]
    )
    with pytest.raises(ConfigError, match="bleu_tokenizer"):
        TYPE.scorer(task(("bleu",), settings={"bleu_tokenizer": "no"}))


def test_a_part_of_a_dialogue_keeps_the_states_of_the_whole():
    labels = [
        {"answers": [text], "scoring": {"dialogue": "d", "turn": turn}}
        for turn, text in enumerate(["food: thai", "area: north"])
    ]
    turns = dataclasses.replace(
        task(("dsem",)),
        labels=labels,
        predictions=["food: greek", "area: north"],
    )
    scorer = TYPE.scorer(turns)
    assert scorer.part(np.array([1])) == {"examples": 1, "dsem": 0.0}


QUERY = {"header": ["a"], "sel": 0, "agg": 0, "conds": []}


def queries(metrics, *scoring):
    answer = "select a from table"
    return TaskPredictions(
        name="queries",
        labels=[{"answers": [answer], "scoring": one} for one in scoring],
        predictions=[answer] * len(scoring),
        class_names=(),
        type="question_answering",
        metrics=metrics,
    )


def test_execution_is_left_out_where_no_table_has_rows(caplog):
    both = ("lfem", "execution")
    bare = queries(both, QUERY, QUERY)
    place_of = "example {}".format
    with caplog.at_level("WARNING", "absl"):
        answer_scoring.check("queries", both, bare.labels, place_of)
    assert "execution is left out: no example has rows" in caplog.text
    scores = evaluator.evaluate([bare], "test")
    assert scores["tasks"]["queries"]["execution"] is None
    assert scores["mean"]["overall"] == 100
    table = tables.console(scores | {"other_splits": {}, "run": {}})
    assert "lfEM" in table and "execution" not in table
    full = queries(both, QUERY | {"rows": [[1]]})
    answer_scoring.check("queries", both, full.labels, place_of)
    assert TYPE.scorer(full).part(np.arange(1))["execution"] == 100
    # It cannot choose the best weights, nor be of some examples only.
    for metrics, some, place in (
        (("execution",), bare.labels, 0),
        (both, [*full.labels, *bare.labels], 1),
    ):
        wrong = f"task queries: example {place}: .*execution.*have rows"
        with pytest.raises(DataError, match=wrong):
            answer_scoring.check("queries", metrics, some, place_of)


def test_every_metric_has_a_title():
    assert set(answer_metrics.METRICS) <= set(TYPE.titles)


def test_predictions_are_written_beside_the_right_answers(tmp_path):
    inputs = [{"question": f"q{n}", "context": "ü"} for n in range(4)]
    path = TYPE.write(str(tmp_path), inputs, task())
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert lines[1] == {
        "question": "q1",
        "context": "ü",
        "label": ["the Rhine", "Rhine river"],
        "prediction": "a rhine",
    }
    assert lines[3]["label"] == "red"


def test_scored_examples_are_read_as_they_were_written(tmp_path):
    scored_examples.write(str(tmp_path), "test", [task()])
    read = scored_examples.read(str(tmp_path), "test")["qa"]
    rows = np.arange(4)
    found = TYPE.scorer(read).part(rows)
    assert found == TYPE.scorer(task()).part(rows)


def test_runs_are_compared_by_paired_bootstrap(monkeypatch):
    declared = type("Declared", (), {"metrics": {}})
    monkeypatch.setattr(significance.task_types, "of", lambda name: TYPE)
    monkeypatch.setattr(significance.types_of_tasks, "of", lambda _: declared)
    better = dataclasses.replace(
        task(), predictions=["paris", "rhine", "blue", "red"]
    )
    found, _ = significance.compare([{"qa": task()}], [{"qa": better}], 50)
    assert found["qa"].metric == "nf1"
    assert found["qa"].scores[1] == 100
    assert found["qa"].gain == pytest.approx(100 - 100 * (8 / 3) / 4)


def test_wrong_tasks_are_refused():
    with pytest.raises(ValueError, match="predictions must have one value"):
        TYPE.scorer(dataclasses.replace(task(), predictions=["x"]))
    with pytest.raises(ValueError, match="must be a text or have answers"):
        TYPE.scorer(dataclasses.replace(task(), labels=[1, 2, 3, 4]))
    with pytest.raises(ConfigError, match="rouge"):
        TYPE.scorer(task(("rouges",)))


def scored(**scores):
    return {
        name: {"type": "question_answering", "primary": "em", "em": score}
        for name, score in scores.items()
    }


def test_the_deca_score_is_the_sum_and_names_what_is_missing():
    total = AnswerScoring().total
    assert total(scored(sst=80.0)) is None
    assert total(scored(sst=80.0, woz=None)) is None
    names = [*GROUPS["decanlp"].members]
    name, told = total(scored(**dict.fromkeys(names, 50.0)))
    assert (name, told) == ("decaScore", "500.0 over 10 tasks")
    del names[1], names[5]
    _, told = total(scored(**dict.fromkeys(names, 1.0)))
    assert told == "8.0 over 8 tasks (without iwslt, qa_zre)"


def test_tasks_of_ones_own_are_not_in_the_deca_score():
    total = AnswerScoring().total
    assert total(scored(mine=1.0, yours=2.5)) == ("sum", "3.5 over 2 tasks")
    assert total(scored(sst=80.0, mine=1.0)) is None
    name, told = total(scored(sst=80.0, mine=1.0, woz=60.5))
    assert name == "decaScore"
    assert told.startswith("140.5 over 2 tasks (without squad, ")
    assert "mine" not in told


def test_tables_tell_the_deca_score():
    tasks = {
        name: {**one, "examples": 3}
        for name, one in scored(sst=1, woz=2).items()
    }
    results = {"split": "test", "tasks": tasks, "mean": {"overall": 1.5}}
    assert "decaScore: 3.0 over 2 tasks (without" in tables.console(results)
    assert "decaScore: 3.0 over 2 tasks (without" in tables.markdown(results)
