"""Scores of kept predictions, beside what `results.json` notes of them."""

import dataclasses

import numpy as np
import pytest

from mtl_tf.analysis import kept_scores
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.scoring import TaskPredictions
from tests.analysis.made_runs import predictions


def noted_of(task, **others):
    scores = evaluate([task], "test")["tasks"][task.name]
    return {task.name: {**scores, **others}}


def log_loss(task):
    given = np.asarray(task.scores)[np.arange(len(task.labels)), task.labels]
    return -np.log(given).mean()


def test_what_is_as_it_was_scored_keeps_all_that_is_noted():
    task = predictions()
    others = {"loss": 0.4, "yardsticks": {"majority": 50.0}, "odd": 1}
    noted = noted_of(task, **others)
    found = kept_scores.evaluate({"books": task}, "test", noted)
    assert found["split"] == "test" and found["tasks"] == noted
    assert found["mean"] == evaluate([task], "test")["mean"]


def test_a_split_that_is_not_noted():
    task = predictions()
    found = kept_scores.evaluate({"books": task}, "validation", {})
    assert found == evaluate([task], "validation")


@pytest.mark.parametrize("had_temperature", [True, False])
@pytest.mark.parametrize("has_temperature", [True, False])
def test_after_a_calibration_scores_are_of_the_kept_predictions(
    had_temperature, has_temperature
):
    old = predictions(seed=0)
    if had_temperature:
        old = dataclasses.replace(old, settings={"temperature": 1.5})
    yardsticks = {"majority": 50.0}
    noted = noted_of(old, loss=9.0, yardsticks=yardsticks)
    # Threshold and temperature are others than those of the training.
    labels = np.asarray(old.labels)
    kept = dataclasses.replace(
        predictions(),
        predictions=np.where(np.arange(len(labels)) < 3, 1 - labels, labels),
        settings={"temperature": 2.0} if has_temperature else {},
    )
    found = kept_scores.evaluate({"books": kept}, "test", noted)
    scores = found["tasks"]["books"]
    assert scores["accuracy"] == found["mean"]["overall"] == 92.5
    assert np.trace(scores["confusion"]["matrix"]) == 37
    assert scores["yardsticks"] == yardsticks
    assert ("calibration" in scores) == has_temperature
    if has_temperature or had_temperature:
        assert scores["loss"] == pytest.approx(log_loss(kept))
    else:  # A threshold changes no probability.
        assert scores["loss"] == 9.0


def test_tasks_on_which_nothing_is_fitted_later():
    task = TaskPredictions(
        "stars", [1.0], [2.0], (), type="regression", metrics=("mse",)
    )
    noted = noted_of(task, loss=3.0, odd=1)
    found = kept_scores.evaluate({"stars": task}, "test", noted)
    assert found["tasks"] == noted


def test_no_examples():
    task = dataclasses.replace(
        predictions(size=0), settings={"temperature": 2.0}
    )
    noted = {"books": {"calibration": {}, "loss": 1.0}}
    scores = kept_scores.evaluate({"books": task}, "test", noted)
    assert "loss" not in scores["tasks"]["books"]
