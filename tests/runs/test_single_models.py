"""Runs of a model for each task."""

import json
import os
import shutil

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation.clean import SeenTexts
from mtl_tf.runs import training_run
from mtl_tf.runs.directory import run_results
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.runs.helpers import train
from tests.system import corpus


def test_parameters_of_several_models_are_summed():
    runs = [
        {"parameters": 9, "trainable_parameters": 7},
        # Of a version that counted what is trained alone.
        {"parameters": 5},
    ]
    runs = [one | {"parameters_without_embedding": 2} for one in runs]
    assert run_results.parameters_of(runs) == {
        "parameters": 14,
        "trainable_parameters": 12,
        "parameters_without_embedding": 4,
    }


@pytest.mark.extended
def test_single_runs_are_scored_on_the_clean_part_of_all_tasks(
    tmp_path, toy_run, toy_files, monkeypatch, points, vocabularies
):
    config = corpus.quick(toy_files, "lstm")
    config["train_separately"] = True
    made, read = SeenTexts.__init__, []
    monkeypatch.setattr(
        SeenTexts,
        "__init__",
        lambda self, *texts: (read.append(len(texts)), made(self, *texts))[1],
    )
    results = train(config, tmp_path / "a")
    assert len(points) == 2
    assert vocabularies == [["plain", "mirror"]]
    # Two splits of each task of the group, read once for both runs.
    assert read.count(2) == 2
    with open(os.path.join(toy_run, "results.json")) as file:
        joint = json.load(file)
    for name in ("plain", "mirror"):
        clean = results["tasks"][name]["clean"]["examples"]
        assert clean == joint["tasks"][name]["clean"]["examples"]
        assert os.path.exists(tmp_path / "a" / "tasks" / name / "best")
    assert results["mean"]["overall"] > 95
    assert results["run"]["parameters"] > 0
    found = mtl_tf.load(str(tmp_path / "a")).evaluate()
    for name in ("plain", "mirror"):
        expected = results["tasks"][name]
        for part in (expected, expected["clean"]):
            part.pop("yardsticks", None)
        assert found["tasks"][name]["clean"] == expected["clean"]
        assert found["tasks"][name]["accuracy"] == expected["accuracy"]
    assert found["mean"] == results["mean"]


def test_models_of_single_tasks_are_loaded_together(single_run, tmp_path):
    run = mtl_tf.load(single_run)
    assert [task["name"] for task in run.tasks] == ["plain", "mirror"]
    alone = {
        name: mtl_tf.load(os.path.join(single_run, "tasks", name))
        for name in ("plain", "mirror")
    }
    texts = ["yes the no", "no a yes"]
    for name, one in alone.items():
        assert run.predict(name, texts) == one.predict(name, texts)
        assert run.inputs(name) == one.inputs(name)
    found = run.evaluate("validation", predictions_dir=str(tmp_path))
    for name, one in alone.items():
        of_one = one.evaluate("validation")
        assert found["tasks"][name] == of_one["tasks"][name]
        assert (tmp_path / f"{name}.jsonl").exists()
    mean = np.mean([t["accuracy"] for t in found["tasks"].values()])
    assert found["mean"]["overall"] == pytest.approx(mean)
    assert run.evaluate(tasks="plain")["tasks"].keys() == {"plain"}
    rows = {"mirror": [{"text": texts[0], "label": "0"}]}
    assert run.evaluate(data=rows) == alone["mirror"].evaluate(data=rows)
    with pytest.raises(ConfigError, match="did you mean 'plain'"):
        run.predict("plan", texts)
    assert run.results["run"]["models"] == 2


def test_a_model_that_is_missing_is_named(single_run, tmp_path):
    run = shutil.copytree(single_run, tmp_path / "run")
    shutil.rmtree(run / "tasks" / "mirror")
    with pytest.raises(RunError, match="no model of the task mirror yet"):
        mtl_tf.load(run)


@pytest.mark.parametrize(
    ("shared", "steps", "every"), [(False, 9, 4), (True, 5, 2)]
)
def test_single_runs_have_the_steps_or_their_share_of_them(
    tmp_path, toy_files, monkeypatch, shared, steps, every
):
    config = corpus.config(toy_files, steps=9)
    config["train_separately"] = True
    config["training"].update(share_steps=shared, min_steps=0, evaluate_every=4)
    joint, trained = training_run._train, []

    def train_one(config, folder, session):
        if config["train_separately"]:
            return joint(config, folder, session)
        trained.append(config["training"])
        raise RunError("enough")

    monkeypatch.setattr(training_run, "_train", train_one)
    with pytest.raises(RunError, match="enough"):
        train(config, tmp_path / "a")
    (training,) = trained
    assert (training["steps"], training["evaluate_every"]) == (steps, every)
    assert training["min_steps"] == 0


def test_models_of_single_tasks_go_on_with_code_that_moved(
    tmp_path, toy_files, monkeypatch
):
    config = corpus.config(toy_files, steps=1)
    config["train_separately"] = True

    def stop(config, run, session):
        os.makedirs(run.file("tasks"), exist_ok=True)
        raise RunError("enough")

    monkeypatch.setattr(training_run, "_train_separately", stop)
    file = tmp_path / "mine.py"
    file.write_text("def flat(progress, step, warmup):\n    return 1.0\n")
    for _ in range(2):
        optimizer = config["training"]["optimizer"]
        optimizer["schedule"] = f"{file}:flat"
        with pytest.raises(RunError, match="enough"):
            train(config, tmp_path / "run")
        (tmp_path / "b").mkdir(exist_ok=True)
        file = file.rename(tmp_path / "b" / "mine.py")


def test_models_of_single_tasks_go_on_with_their_mixing_but_longer(
    tmp_path, toy_files, monkeypatch
):
    """Older versions gave them the mixing of all tasks."""
    config = corpus.config(toy_files, steps=2)
    weights = {"plain": 2.0, "mirror": 1.0}
    config["pipeline"]["mixing"] = {"name": "weighted", "weights": weights}
    config["train_separately"] = True
    config["training"].update(share_steps=True, steps_per_epoch=3)
    joint, asked = training_run._train, []

    def train_one(config, folder, session):
        if config["train_separately"]:
            return joint(config, folder, session)
        asked.append(config)
        raise RunError("enough")

    monkeypatch.setattr(training_run, "_train", train_one)
    run = RunDirectory(str(tmp_path / "a" / "tasks" / "plain"))
    for _ in range(2):
        with pytest.raises(RunError, match="enough"):
            train(config, tmp_path / "a")
        first = asked[0]
        begun = json.loads(json.dumps(first))
        begun["pipeline"]["mixing"] = config["pipeline"]["mixing"]
        begun["training"]["steps_per_epoch"] = 3
        run.write("config.json", begun)
        run.write("results.json", {})
        config["training"]["steps"] = 6
    assert first["pipeline"]["mixing"]["weights"] == {"plain": 2.0}
    assert first["training"]["steps_per_epoch"] == 2
    begun["training"]["steps"] = 3
    assert asked[1] == begun


PHASES = [{"tasks": [name], "steps": 1} for name in ("plain", "mirror")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mixing",
    [
        {"name": "phases", "phases": PHASES},
        {"name": "weighted", "weights": {"plain": 2.0, "mirror": 1.0}},
    ],
)
def test_mixings_that_name_other_tasks_are_not_those_of_a_single_model(
    tmp_path, toy_files, mixing
):
    config = corpus.config(toy_files, steps=1)
    config["train_separately"] = True
    config["pipeline"]["mixing"] = mixing
    results = train(config, tmp_path / "a")
    assert set(results["tasks"]) == {"plain", "mirror"}
