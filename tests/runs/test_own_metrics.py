"""Metrics that are functions of the user's own, from entries to results."""

import json
import os

import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import evaluator, significance, task_types
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.tasks import registry

METRICS = '''
from helping import share

def odd_right(labels, predictions):
    """How many of those labelled odd are called so."""
    return share(said for label, said in zip(labels, predictions)
                 if label == "odd")

def wrong(labels, predictions):
    return sum(a != b for a, b in zip(labels, predictions))

wrong.lower_is_better = True

def broken(labels, predictions):
    raise KeyError("no")

def endless(labels, predictions):
    return float("nan")

NUMBER = 3
'''
HELPING = """
def share(said):
    said = list(said)
    return 100 * said.count("odd") / max(len(said), 1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_metrics.py").write_text(METRICS)
    (tmp_path / "helping.py").write_text(HELPING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entry(*metrics):
    data = {
        split: [
            {"text": f"n{n} is here", "label": ("even", "odd")[n % 2]}
            for n in range(count)
        ]
        for split, count in (("train", 40), ("validation", 8), ("test", 8))
    }
    return {"name": "mine", "data": data, "metrics": list(metrics)}


def scored(task, labels, predictions):
    return TaskPredictions(
        task.name,
        labels,
        predictions,
        task.labels,
        metrics=task.metrics,
        settings=task.settings,
        clean=[True, False, True, True],
    )


def resolved(folder, *metrics):
    (folder / "a.csv").write_text("text,label\nx,odd\ny,even\n")
    files = dict.fromkeys(("train", "validation", "test"), "a.csv")
    (task,) = registry.resolve(
        [{"name": "mine", "files": files, "metrics": list(metrics)}]
    )
    return task


def test_functions_score_beside_the_usual_metrics(folder):
    task = resolved(
        folder, "my_metrics.py:odd_right", "accuracy", "my_metrics.py:wrong"
    )
    assert task.metrics == ("odd_right", "accuracy", "wrong")
    assert list(task.labels) == ["even", "odd"]
    os.chdir("/")  # the place of the file is known from there, too
    one = scored(task, [1, 1, 1, 0], [1, 1, 0, 1])
    scores = evaluator.evaluate([one], "test")
    mine = scores["tasks"]["mine"]
    assert mine["primary"] == "odd_right"
    assert mine["odd_right"] == pytest.approx(200 / 3)
    assert (mine["accuracy"], mine["wrong"]) == (50, 2)
    assert mine["clean"]["odd_right"] == 50
    assert "lower_is_better" not in mine
    assert scores["mean"]["overall"] == pytest.approx(200 / 3)


def test_a_function_may_be_better_when_lower(folder):
    task = resolved(folder, "my_metrics.py:wrong")
    one = scored(task, [1, 1, 1, 0], [1, 1, 0, 1])
    scores = evaluator.evaluate([one], "test")
    assert scores["tasks"]["mine"]["lower_is_better"]
    assert scores["mean"]["overall"] == -2
    mistakes = task_types.of("classification").mistakes(one)
    assert [mistake.number for mistake in mistakes] == [2, 3]
    better = scored(task, [1, 1, 1, 0], [1, 1, 1, 0])
    runs = [{"mine": better}], [{"mine": one}]
    found, _ = significance.compare(*runs, draws=50)
    assert found["mine"].gain == -2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_metrics.py:odd_rigth", "has no function 'odd_rigth'"),
        ("my_metrics.py:NUMBER", "NUMBER is no function, but 3"),
        ("other.py:kappa", "there is no file .*other.py"),
        ("no.such.module:kappa", "importing no.such.module fails"),
        (
            "damaged.py:kappa",
            "importing .*damaged.py fails: .*:[0-9]+: SyntaxError",
        ),
        ("usual.py:accuracy", "there is another metric 'accuracy'"),
        ("odd_right", "odd_right"),
    ],
)
def test_mistakes_are_told_before_training(folder, name, message):
    (folder / "damaged.py").write_text("def kappa(:")
    (folder / "usual.py").write_text("def accuracy(a, b):\n    return 0\n")
    with pytest.raises(ConfigError, match=message):
        resolved(folder, name, "accuracy")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", r"my_metrics.py:broken fails on 4 examples: KeyError"),
        ("endless", r"my_metrics.py:endless must return a finite number"),
    ],
)
def test_a_function_that_fails(folder, name, message):
    task = resolved(folder, f"my_metrics.py:{name}")
    with pytest.raises(ConfigError, match=message):
        evaluator.evaluate([scored(task, [1] * 4, [0] * 4)], "test")


@pytest.mark.extended
def test_a_run_chooses_its_weights_by_a_function(folder):
    config = mtl_tf.config(
        "quickstart",
        {"training.epochs": 2, "model.scheme": {"name": "nbow"}},
    )
    config.tasks = (entry("my_metrics.py:odd_right", "macro_f1"),)
    run = mtl_tf.train(config, folder / "run", verbose=False)
    found = run.results["tasks"]["mine"]
    assert found["primary"] == "odd_right" and "macro_f1" in found
    lines = (folder / "run/metrics.jsonl").read_text().splitlines()
    assert all("odd_right" in line for line in lines)
    assert "odd_right" in (folder / "run/results.md").read_text()
    stored = json.loads((folder / "run/config.json").read_text())
    (metric, _) = stored["tasks"][0]["metrics"]
    assert metric == f"{folder}/my_metrics.py:odd_right"
    os.chdir("/")
    again = mtl_tf.evaluate(folder / "run")["tasks"]["mine"]
    assert again["odd_right"] == found["odd_right"]
    # Predicting needs no metric.
    os.rename(folder / "my_metrics.py", folder / "gone.py")
    assert mtl_tf.predict(folder / "run", "mine", ["n3 is here"])
