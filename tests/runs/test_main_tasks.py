"""Weights that are chosen by the main tasks of several."""

import json

import pytest

from mtl_tf.core.errors import ConfigError
from tests.runs.helpers import metrics, train
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
    assert means["plain"] != means["mirror"]
    assert results["run"]["validation_mean"] == means["mirror"]


@pytest.mark.parametrize("separately", [False, True])
def test_main_tasks_are_tasks_of_the_run(tmp_path, toy_files, separately):
    config = corpus.quick(toy_files, main_tasks=("miror",))
    config["train_separately"] = separately
    told = "unknown task in training.main_tasks 'miror'; did you mean 'mirror'"
    with pytest.raises(ConfigError, match=told):
        train(config, tmp_path / "a")
