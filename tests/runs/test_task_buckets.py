"""Whole runs whose tasks have buckets of their own, within a budget."""

import json
import shutil

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.pipelines import batches
from mtl_tf.prediction import inference
from mtl_tf.runs import training_run
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.runs.helpers import assert_same_weights, metrics, train_killed
from tests.system import questions, random_runs

LONGER = {"behind": 40, "reverse": 16}


def make_config(folder, **pipeline):
    """Three small tasks; contexts of the first ones have more words."""
    sizes = {"train": 60, "validation": 5, "test": 5}
    tasks = questions.entries(folder, sizes, longer=LONGER)
    config = questions.config(tasks, units=8, feed_forward=6)
    config["pipeline"] |= {
        "buckets": 2,
        "buckets_per_task": True,
        "tokens_per_batch": 800,
        "token_weights": {"answer": 5},
        **pipeline,
    }
    config["training"] |= {"steps": 12, "evaluate_every": 4}
    return config


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """The directory of a run of random weights."""
    folder = tmp_path_factory.mktemp("buckets")
    run, _ = random_runs.write_weights(folder / "run", make_config(folder))
    return run


def test_boundaries_stand_by_the_names_of_tasks(untrained):
    data = untrained.read("data.json")
    found = data["boundaries"]
    assert data["axes"] == ["context", "question", "answer"]
    assert list(found) == list(questions.SOURCES)
    longest = {name: boxes[-1] for name, boxes in found.items()}
    assert longest == {
        "behind": [48, 4, 4],
        "reverse": [24, 4, 4],
        "mentions": [8, 4, 4],
    }
    assert [len(boxes) for boxes in found.values()] == [2, 2, 1]


def noted_evaluations(monkeypatch):
    """What `evaluation_batches` is asked for, and gives, as it is called."""
    calls = []

    def noted(split, task, batch_size, boundaries, *axes, **options):
        given = (split, task, batch_size, boundaries, *axes)
        found = list(batches.evaluation_batches(*given, **options))
        shapes = [b["context"].shape[2] for b in found]
        calls.append((task, boundaries, shapes))
        return found

    monkeypatch.setattr(inference, "evaluation_batches", noted)
    return calls


@pytest.mark.extended
def test_predictions_are_padded_to_the_tasks_own_buckets(
    untrained, monkeypatch
):
    run = mtl_tf.load(untrained.path)
    # What is not compiled is padded to the longest text of its batch.
    run.predictor.compile_from = 1
    calls = noted_evaluations(monkeypatch)
    found = untrained.read("data.json")["boundaries"]
    for number, name in enumerate(questions.SOURCES):
        run.evaluate("test", [name])
        task, boundaries, widths = calls[-1]
        assert (task, boundaries) == (number, found[name])
        assert widths and set(widths) <= {box[0] for box in found[name]}
    assert found["behind"][-1][0] > found["mentions"][-1][0]


DAMAGED = {
    "a task lacks": lambda b: {n: v for n, v in b.items() if n != "reverse"},
    "empty": lambda b: {},
    "no boxes": lambda b: b | {"reverse": []},
    "a number": lambda b: b | {"behind": 3},
    "null": lambda b: b | {"behind": None},
    "falling": lambda b: b | {"behind": b["behind"][::-1]},
    "too few axes": lambda b: b | {"mentions": [[4, 8], [4, 12]]},
    "lengths of one axis": lambda b: b | {"mentions": [4, 8]},
    "of all tasks, one axis": lambda b: [4, 8, 16],
    "nothing": lambda b: None,
    "an empty list": lambda b: [],
}


@pytest.mark.parametrize(
    ("damage", "with_axes"),
    [
        ("a task lacks", True),
        *(
            pytest.param(damage, with_axes, marks=pytest.mark.slow)
            for damage in DAMAGED
            for with_axes in (True, False)
            # Without its axes a flat list is a file of one axis.
            if with_axes or damage != "of all tasks, one axis"
        ),
    ],
)
def test_damaged_boundaries_are_told(untrained, damage, with_axes, tmp_path):
    copied = str(tmp_path / "run")
    shutil.copytree(untrained.path, copied)
    data = untrained.read("data.json")
    data["boundaries"] = DAMAGED[damage](data["boundaries"])
    if not with_axes:
        del data["axes"]
    with open(RunDirectory(copied).file("data.json"), "w") as file:
        json.dump(data, file)
    config = untrained.read("config.json")
    with pytest.raises(RunError, match="data.json is damaged"):
        mtl_tf.load(copied)
    with pytest.raises(RunError, match="data.json is dam|the data changed"):
        training_run.train(config, copied)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ({"token_weights": {"anser": 5}}, "anser.*did you mean 'answer'"),
        *(
            pytest.param(*case, marks=pytest.mark.extended)
            for case in (
                (
                    {"token_weights": {"answer": -1}},
                    r"token_weights\['answer'\] must",
                ),
                ({"buckets": [20, 50]}, "must be the number of them at most"),
                (
                    {"tokens_per_batch": 71},
                    "72 tokens with their padding and weights",
                ),
                (
                    {"mixing": {"name": "joint"}, "tokens_per_batch": 0}
                    | {"token_weights": {}},
                    "set pipeline.buckets_per_task to False",
                ),
            )
        ),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, pipeline, message):
    config = make_config(tmp_path, **pipeline)
    with pytest.raises(ConfigError, match=message):
        training_run.train(config, str(tmp_path / "run"))


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_same_batches(tmp_path, monkeypatch):
    config = make_config(tmp_path)
    whole, killed = str(tmp_path / "whole"), str(tmp_path / "killed")
    results = training_run.train(config, whole)
    # Neither changes the result; they make states to be killed at.
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 1}
    train_killed(config, killed, 6)
    assert not RunDirectory(killed).has("results.json")
    assert 0 < len(metrics(killed)) < len(metrics(whole))
    again = training_run.train(config, killed)
    assert_same_weights(whole, killed)
    assert again["tasks"] == results["tasks"]
    assert metrics(killed) == metrics(whole)
    boundaries = [
        RunDirectory(path).read("data.json")["boundaries"]
        for path in (whole, killed)
    ]
    assert boundaries[0] == boundaries[1] and len(boundaries[0]) == 3

    one, other = mtl_tf.load(whole), mtl_tf.load(killed)
    for name in questions.SOURCES:
        examples = questions.examples(name, 7, 4)
        answers = [run.predict(name, examples) for run in (one, other)]
        for first, second in zip(*answers):
            assert first["answer"] == second["answer"]
            np.testing.assert_array_equal(first["shares"], second["shares"])
    assert one.evaluate("test")["tasks"] == results["tasks"]
