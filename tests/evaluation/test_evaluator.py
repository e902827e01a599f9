"""The structure of results.json, with its numbers worked out by hand."""

import json

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.tasks.task_type import Metric
from mtl_tf.tasks.task_types import classification

NAMES = ("negative", "positive")


def books(**changes):
    fields = {
        "name": "books",
        "labels": [0, 1, 1, 0],
        "predictions": [0, 1, 0, 0],
        "class_names": NAMES,
        "losses": [0.5, 0.5, 1.5, 0.5],
        "clean": [True, False, True, False],
        "validation_in_training": 3,
    }
    return TaskPredictions(**{**fields, **changes})


def test_structure():
    results = evaluate([books(metrics=("accuracy",))], "test")
    assert results == {
        "split": "test",
        "tasks": {
            "books": {
                "type": "classification",
                "primary": "accuracy",
                "examples": 4,
                "accuracy": 75.0,
                "loss": 0.75,
                "confusion": {
                    "classes": ["negative", "positive"],
                    "matrix": [[2, 0], [1, 1]],
                },
                "clean": {"examples": 2, "accuracy": 50.0},
                "validation_in_training": 3,
            }
        },
        "mean": {
            "overall": 75.0,
            "classification": 75.0,
            "clean": {"overall": 50.0, "classification": 50.0},
        },
    }


def of_positive(**changes):
    names = ("f1", "roc_auc", "average_precision", "accuracy")
    task = books(metrics=names, clean=None, losses=None, **changes)
    (scores,) = evaluate([task], "test")["tasks"].values()
    return [round(scores[name], 1) for name in names]


def test_metrics_of_the_positive_label():
    probabilities = np.array([0.4, 0.9, 0.3, 0.2])
    scores = np.stack([1 - probabilities, probabilities], 1)
    # Right are the first and third of the ranked: 1/2 * (1 + 2/3).
    assert of_positive(scores=scores) == [66.7, 75.0, 83.3, 75.0]
    # The first of two labels has three predictions, two of them right.
    other = of_positive(scores=scores, settings={"positive_label": "negative"})
    assert other == [80.0, 75.0, 83.3, 75.0]
    # Without probabilities labels are scores of 0 and 1.
    assert of_positive() == [66.7, 75.0, 75.0, 75.0]


def test_the_positive_one_of_several_labels():
    names = {"class_names": ("a", "b", "c"), "labels": [2, 0, 1, 2]}
    names["predictions"] = [2, 2, 1, 1]
    assert of_positive(**names, settings={"positive_label": "c"})[0] == 50.0
    with pytest.raises(ConfigError, match="positive_label must name it"):
        of_positive(**names)


def test_lower_may_be_better(monkeypatch):
    worse = {"macro_f1": Metric(), "accuracy": Metric(higher_is_better=False)}
    monkeypatch.setattr(classification.TYPE, "metrics", worse)
    results = evaluate([books(metrics=("accuracy", "macro_f1"))], "test")
    task, mean = results["tasks"]["books"], results["mean"]
    # The score is as it is; a higher mean is better.
    assert task["lower_is_better"] is True
    assert (task["accuracy"], task["clean"]["accuracy"]) == (75.0, 50.0)
    assert mean["overall"] == mean["classification"] == -75.0
    assert mean["clean"] == {"overall": -50.0, "classification": -50.0}
    empty = books(labels=[], predictions=[], losses=[], clean=[])
    assert evaluate([empty], "test")["mean"]["overall"] is None
    other = evaluate([books(metrics=("macro_f1",))], "test")
    assert "lower_is_better" not in other["tasks"]["books"]


def test_unknown_types_offer_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'classification'"):
        evaluate([books(type="clasification")], "test")


def test_results_of_arrays_are_json():
    task = books(
        labels=np.array([0, 1, 1, 0], np.int32),
        predictions=np.array([0, 1, 0, 0], np.int64),
        losses=np.array([0.5] * 4, np.float32),
        clean=np.array([True] * 4),
        validation_in_training=np.int64(3),
    )
    results = evaluate([task], "test")
    assert json.loads(json.dumps(results)) == results


def test_all_metrics_are_given_and_the_first_is_primary():
    results = evaluate([books(metrics=("macro_f1", "accuracy"))], "test")
    task = results["tasks"]["books"]
    assert task["primary"] == "macro_f1"
    assert task["accuracy"] == 75.0
    assert results["mean"]["overall"] == task["macro_f1"]
    assert set(task["clean"]) == {"examples", "accuracy", "macro_f1"}


def test_means_count_tasks_not_examples_and_kinds_apart():
    tasks = [
        books(),
        books(
            name="films", labels=[1], predictions=[1], losses=None, clean=[1]
        ),
        books(
            name="tags",
            type="tagging",
            labels=[[1, 0]] * 4,
            predictions=[[0, 1]] * 4,
            metrics=("token_accuracy",),
        ),
    ]
    mean = evaluate(tasks, "test")["mean"]
    assert mean["classification"] == (75 + 100) / 2
    assert mean["tagging"] == 0.0
    assert mean["overall"] == pytest.approx((75 + 100 + 0) / 3)
    assert mean["clean"] == {
        "classification": (50 + 100) / 2,
        "tagging": 0.0,
        "overall": pytest.approx((50 + 100 + 0) / 3),
    }


def test_what_is_not_known_is_absent():
    task = books(losses=None, clean=None, validation_in_training=None)
    results = evaluate([task], "test")
    for key in ("loss", "clean", "validation_in_training"):
        assert key not in results["tasks"]["books"]
    assert "clean" not in results["mean"]


def test_an_empty_part_has_no_score_and_counts_in_no_mean():
    tasks = [books(clean=[False] * 4), books(name="films")]
    results = evaluate(tasks, "test")
    clean = results["tasks"]["books"]["clean"]
    assert clean == {"examples": 0, "accuracy": None, "macro_f1": None}
    assert results["mean"]["clean"]["overall"] == 50.0


def test_nothing_but_empty_tasks():
    task = books(labels=[], predictions=[], losses=[], clean=[])
    results = evaluate([task], "test")
    assert results["tasks"]["books"]["loss"] is None
    assert results["mean"]["overall"] is None
    assert "NaN" not in json.dumps(results)


def test_one_class_sets():
    task = books(labels=[1, 1], predictions=[1, 1], losses=None, clean=None)
    scores = evaluate([task], "test")["tasks"]["books"]
    assert (scores["accuracy"], scores["macro_f1"]) == (100.0, 100.0)
    assert scores["confusion"]["matrix"] == [[0, 0], [0, 2]]


def test_diagnostics_are_averaged_and_count_in_no_score():
    tasks = [
        books(diagnostics={"guessed": [100, 0, 0, 0]}),
        books(name="films", diagnostics={"guessed": [100, 100, 0, 0]}),
        books(name="toys"),
    ]
    results = evaluate(tasks, "test")
    assert results["tasks"]["books"]["diagnostics"] == {"guessed": 25.0}
    assert "diagnostics" not in results["tasks"]["toys"]
    plain = evaluate([books(), books(name="a"), books(name="b")], "test")
    assert results["mean"] == plain["mean"] | {"diagnostics": {"guessed": 37.5}}


def test_no_tasks():
    assert evaluate([], "test")["mean"] == {"overall": None}


def test_unknown_metric():
    with pytest.raises(ConfigError, match="unknown metric 'acc'"):
        evaluate([books(metrics=("acc",))], "test")


@pytest.mark.parametrize("field", ["losses", "clean"])
def test_lengths_must_agree(field):
    with pytest.raises(ValueError, match=f"books: {field} must have one"):
        evaluate([books(**{field: [1, 0]})], "test")


def test_lengths_of_diagnostics_must_agree():
    with pytest.raises(ValueError, match="diagnostics guessed must have one"):
        evaluate([books(diagnostics={"guessed": [1, 0]})], "test")


def test_a_scorer_must_return_all_metrics(monkeypatch):
    monkeypatch.setattr(
        "mtl_tf.evaluation.task_types.classification.ClassScorer.part",
        lambda *_: {"examples": 4, "macro_f1": 0.0},
    )
    with pytest.raises(ConfigError, match="task books, and lacks accuracy$"):
        evaluate([books()], "test")
