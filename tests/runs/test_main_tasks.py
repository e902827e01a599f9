"""Main tasks, which choose the weights, and weights of the tasks' losses."""

import json

import pytest

from mtl_tf.core.errors import ConfigError
from tests.runs.helpers import assert_same_weights, metrics, train
from tests.system import corpus


def chosen_by(tmp_path, files, *main):
    """The best step of a run, and the scores of each task by step."""
    config = corpus.quick(files, epochs=8, main_tasks=main)
    folder = tmp_path / ("_".join(main) or "all")
    results = train(config, folder)
    assert results["run"].get("main_tasks", []) == list(main)
    entries = metrics(folder)
    means = {e["step"]: e["validation"]["mean"] for e in entries}
    assert results["run"]["validation_mean"] == max(means.values())
    scores = {
        name: {
            e["step"]: e["validation"]["tasks"][name]["accuracy"]
            for e in entries
        }
        for name in ("plain", "mirror")
    }
    return results["run"]["best_step"], means, scores


@pytest.mark.extended
def test_the_best_weights_are_those_of_the_main_tasks(tmp_path, toy_files):
    for main in (("mirror",), ("plain",)):
        step, means, scores = chosen_by(tmp_path, toy_files, *main)
        of_main = scores[main[0]]
        assert means == of_main
        assert step == max(of_main, key=of_main.get)
    step, means, scores = chosen_by(tmp_path, toy_files)
    both = {s: (scores["plain"][s] + scores["mirror"][s]) / 2 for s in means}
    assert means == pytest.approx(both)
    assert scores["plain"] != scores["mirror"]


@pytest.mark.extended
def test_models_of_single_tasks_are_chosen_by_their_own_task(
    tmp_path, toy_files
):
    config = corpus.quick(toy_files, main_tasks=("mirror",))
    config["train_separately"] = True
    results = train(config, tmp_path)
    means = {}
    for name in ("plain", "mirror"):
        folder = tmp_path / "tasks" / name
        means[name] = max(e["validation"]["mean"] for e in metrics(folder))
        with open(folder / "config.json") as file:
            assert json.load(file)["training"]["main_tasks"] == []
    assert results["run"]["validation_mean"] == means["mirror"]


@pytest.mark.extended
def test_weights_of_losses_are_those_of_the_entries(tmp_path, toy_files):
    plain, mirror = toy_files
    given = corpus.quick([plain, {**mirror, "loss_weight": 2.0}])
    given["training"]["loss_weights"] = {"mirror": 0.125}
    entry = corpus.quick([plain, {**mirror, "loss_weight": 0.25}])
    train(given, tmp_path / "a")
    train(entry, tmp_path / "b")
    assert_same_weights(tmp_path / "a", tmp_path / "b")
    for line in metrics(tmp_path / "a"):
        assert line["loss_weights"] == {"plain": 1.0, "mirror": 0.25}


@pytest.mark.parametrize("separately", [False, True])
@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (
            "main_tasks",
            ("miror",),
            "task in training.main_tasks 'miror'; did you mean 'mirror'",
        ),
        (
            "loss_weights",
            {"plan": 2.0},
            "task in training.loss_weights 'plan'; did you mean 'plain'",
        ),
    ],
)
def test_they_name_tasks_of_the_run(
    tmp_path, toy_files, field, value, told, separately
):
    config = corpus.quick(toy_files, **{field: value})
    config["train_separately"] = separately
    with pytest.raises(ConfigError, match=told):
        train(config, tmp_path / "a")
    assert not (tmp_path / "a" / "config.json").exists()
