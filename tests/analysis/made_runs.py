"""Finished runs, made without training: the files that an analysis reads."""

import json

import numpy as np

from mtl_tf.configs.base import paper_config
from mtl_tf.evaluation import evaluator, scored_examples
from mtl_tf.evaluation.scoring import TaskPredictions

CLASSES = ("<bad>", "good")


def predictions(name="books", seed=0, size=40):
    """Of a task of two classes; every fourth example is wrong."""
    labels = np.arange(size) % 2
    wrong = np.arange(size) % 4 == seed % 4
    said = np.where(wrong, 1 - labels, labels)
    sure = 0.5 + np.arange(size) / (2 * size)
    scores = np.where(np.eye(2)[said] > 0, sure[:, None], 1 - sure[:, None])
    return TaskPredictions(name, labels, said, CLASSES, scores=scores)


def entry(step, tasks, loss=0.5, score=50.0, stage="joint"):
    """A line of metrics.jsonl."""
    scores = {"accuracy": score, "macro_f1": score, "loss": loss + 0.1}
    return {
        "stage": stage,
        "step": step,
        "epoch": step / 10,
        "train_loss": dict.fromkeys(tasks, loss),
        "validation": {"mean": score, "tasks": dict.fromkeys(tasks, scores)},
    }


def make_run(
    path, tasks=("books", "films"), seed=0, split="test", best=30, **training
):
    """A run of four epochs, ten steps each; returns its path as a text.

    Args:
        path: a `pathlib.Path`.
        tasks: their names.
        seed: of the run.
        split: that was scored.
        best: the step of the best weights.
        **training: fields of the config's `training`.
    """
    config = json.loads(paper_config().to_json())
    config |= {"name": "made", "seed": seed, "tasks": list(tasks)}
    config["training"] |= {"epochs": 4, **training}
    said = [predictions(name, seed) for name in tasks]
    described = [
        {
            "name": one.name,
            "type": one.type,
            "labels": CLASSES,
            "metrics": one.metrics,
            "loss_weight": 1.0,
        }
        for one in said
    ]
    results = evaluator.evaluate(said, split)
    facts = {"name": "made", "seed": seed, "steps": 40, "wall_time": 61.0}
    (path / "best").mkdir(parents=True)
    for name, value in {
        "config.json": config,
        "labels.json": {"tasks": described},
        "best/best.json": {"step": best, "score": 70.0, "weights": "x"},
        "results.json": {**results, "other_splits": {}, "run": facts},
    }.items():
        (path / name).write_text(json.dumps(value))
    note(
        path,
        *(
            entry(10 * n, tasks, 1 / n + seed, 40.0 + 10 * n)
            for n in (1, 2, 3, 4)
        ),
    )
    scored_examples.write(str(path), split, said)
    return str(path)


def note(path, *entries):
    """Writes metrics.jsonl."""
    lines = [json.dumps(one) + "\n" for one in entries]
    (path / "metrics.jsonl").write_text("".join(lines))


class Loaded:
    """A stand-in for a loaded run, whose texts are numbered."""

    def __init__(self, path, tasks=("books", "films"), size=40):
        self.path = path
        self.tasks = [{"name": name} for name in tasks]
        self.size = size

    def inputs(self, task, split, data_dir=None, manual_dir=None):
        return [
            f"<script>{task} {split} {n}".encode() for n in range(self.size)
        ]

    def evaluate(self, split, tasks, data_dir, manual_dir, keep):
        assert keep
        said = [predictions(task["name"]) for task in self.tasks]
        scored_examples.write(self.path, split, said)
