"""Each task with the weights of its own best validation score."""

import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.config_fields import fields, validation
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs.stages import stage_runner
from mtl_tf.training.distribution import strategies
from tests.runs.helpers import metrics, train, train_killed, weights
from tests.system import corpus

TASKS = ("plain", "mirror")


def quick(files, **training):
    return corpus.quick(files, epochs=6, best_per_task=True, **training)


def scores_of(directory):
    """The validation accuracies of each task by step."""
    return {
        name: {
            e["step"]: e["validation"]["tasks"][name]["accuracy"]
            for e in metrics(directory)
        }
        for name in TASKS
    }


def best_of(directory, task):
    return weights(os.path.join(directory, "best_per_task", task))


@pytest.fixture
def scripted(monkeypatch):
    """Validation scores: that of `plain` falls, that of `mirror` rises."""
    results_of = stage_runner.StageRunner._results

    def results(self, stage):
        scored = results_of(self, stage)
        evaluations.append(scored)
        scored["tasks"]["plain"]["accuracy"] = 50.0 - len(evaluations)
        scored["tasks"]["mirror"]["accuracy"] = 50.0 + 3 * len(evaluations)
        return scored

    evaluations = []
    monkeypatch.setattr(stage_runner.StageRunner, "_results", results)


def test_each_task_keeps_the_weights_of_another_step(
    tmp_path, small_files, scripted
):
    results = train(quick(small_files), tmp_path / "a")
    first, *_, last = (e["step"] for e in metrics(tmp_path / "a"))
    assert results["run"]["best_steps"] == {"plain": first, "mirror": last}
    assert results["run"]["best_step"] == last
    # A training that ends there has the same weights.
    train(corpus.quick(small_files, epochs=1), tmp_path / "b")
    one, two, mean = (
        best_of(tmp_path / "a", "plain"),
        best_of(tmp_path / "a", "mirror"),
        weights(tmp_path / "a"),
    )
    for key, value in weights(tmp_path / "b").items():
        np.testing.assert_array_equal(one[key], value, err_msg=key)
        np.testing.assert_array_equal(two[key], mean[key], err_msg=key)
    assert any(not np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.by_default("main0-3")
@pytest.mark.parametrize(("main", "count"), [(("plain",), 3), ((), 6)])
def test_patience_is_with_the_main_tasks(
    tmp_path, small_files, scripted, main, count
):
    """The score of `plain` is best at first, that of `mirror` at last."""
    config = quick(small_files, patience=2, main_tasks=main)
    results = train(config, tmp_path)
    assert len(metrics(tmp_path)) == count
    if main:
        assert results["run"]["validation_mean"] == 49.0


@pytest.mark.extended
def test_a_task_without_a_score_has_the_weights_of_the_mean(
    tmp_path, small_files, monkeypatch
):
    results_of = stage_runner.StageRunner._results

    def results(self, stage):
        scored = results_of(self, stage)
        scored["tasks"]["plain"]["accuracy"] = float("nan")
        return scored

    monkeypatch.setattr(stage_runner.StageRunner, "_results", results)
    config = quick(small_files, main_tasks=("mirror",))
    results = train(config, tmp_path)
    assert not os.path.exists(tmp_path / "best_per_task" / "plain")
    assert set(results["run"]["best_steps"].values()) == {
        results["run"]["best_step"]
    }
    run = mtl_tf.load(str(tmp_path))
    assert run.weights_for("plain") == str(tmp_path / "best")


@pytest.mark.by_default("main1")
@pytest.mark.parametrize("main", [(), ("mirror",)])
def test_tasks_are_scored_with_the_weights_of_their_own_best_step(
    tmp_path, small_files, main
):
    results = train(quick(small_files, main_tasks=main), tmp_path)
    scores = scores_of(tmp_path)
    steps = {name: max(s, key=s.get) for name, s in scores.items()}
    assert results["run"]["best_steps"] == steps
    best = [max(scores[name].values()) for name in main or TASKS]
    assert results["run"]["validation_mean"] == pytest.approx(np.mean(best))
    run = mtl_tf.load(str(tmp_path))
    scored = run.evaluate("validation")["tasks"]
    for name in TASKS:
        assert scored[name]["accuracy"] == max(scores[name].values())
        folder = tmp_path / "best_per_task" / name / "best"
        assert run.weights_for(name) == str(folder)
    assert run.evaluate("test")["tasks"] == results["tasks"]


@pytest.mark.extended
def test_a_killed_run_keeps_the_same_weights(tmp_path, toy_files):
    config = quick(toy_files, patience=2)
    whole = train(config, tmp_path / "whole")
    train_killed(config, str(tmp_path / "killed"), 2)
    again = train(config, tmp_path / "killed")
    assert again["run"]["best_steps"] == whole["run"]["best_steps"]
    assert metrics(tmp_path / "killed")[-1]["step"] == whole["run"]["steps"]
    for name in TASKS:
        one, two = (
            best_of(tmp_path / folder, name) for folder in ("whole", "killed")
        )
        for key, value in one.items():
            np.testing.assert_array_equal(value, two[key], err_msg=key)


@pytest.mark.extended
def test_on_two_replicas(
    tmp_path, toy_files, scripted, two_replicas, monkeypatch
):
    monkeypatch.setitem(strategies.STRATEGIES, "two", lambda: two_replicas)
    results = train(quick(toy_files), tmp_path, strategy="two")
    first, *_, last = (e["step"] for e in metrics(tmp_path))
    assert results["run"]["best_steps"] == {"plain": first, "mirror": last}


def test_without_it_a_run_has_one_model(tmp_path, small_files):
    config = corpus.quick(small_files, epochs=1)
    assert "best_steps" not in train(config, tmp_path)["run"]
    assert not os.path.exists(tmp_path / "best_per_task")


def test_a_model_of_one_task_has_no_copy(tmp_path, small_files):
    config = corpus.quick(small_files[:1], epochs=1, best_per_task=True)
    assert "best_steps" not in train(config, tmp_path)["run"]
    assert not os.path.exists(tmp_path / "best_per_task")


def test_fine_tuning_has_weights_of_its_own():
    config = fields.defaults()
    config["tasks"] = ["sample_reviews"]
    config["training"]["best_per_task"] = True
    config["training"]["fine_tune"]["epochs"] = 2
    with pytest.raises(ConfigError, match="fine_tune.epochs 2: each gives"):
        validation.validate(config)
