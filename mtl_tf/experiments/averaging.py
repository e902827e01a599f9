"""Averages the probabilities of several runs, and chooses the runs.

The greedy choice of members with repetition is that of Caruana et al. 2004,
"Ensemble selection from libraries of models" (section 2).
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import evaluator, scored_examples, task_types
from mtl_tf.evaluation.probabilities import Probabilities
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.significance import System
from mtl_tf.prediction import task_types as prediction_types
from mtl_tf.prediction.prediction_type import FITTED_FIELDS

VALIDATION = "validation"


def check_type(name: str, task_type: str) -> Probabilities:
    """The meaning of the probabilities of a task type.

    Args:
        name: a task's name, for the message.
        task_type: the task's type.

    Raises:
        ConfigError: the type has no probabilities.
    """
    kind = task_types.of(task_type).probabilities
    if kind is None:
        raise ConfigError(
            f"the task {name} is of the type {task_type}, which has no "
            "probabilities of whole examples to average: name others with "
            "--tasks"
        )
    return kind


def check_labels(
    name: str, labels: Sequence[Sequence[str]], paths: Sequence[str]
) -> None:
    """Refuses runs with other labels than the first run.

    Args:
        name: a task's name, for the message.
        labels: the labels of the task in each run, in any order.
        paths: the runs' paths.

    Raises:
        RunError: a label is only in one of two runs; the message names it.
    """
    for others, path in zip(labels, paths):
        if only := sorted(set(labels[0]) ^ set(others)):
            here, there = paths[0], path
            if only[0] in others:
                here, there = there, here
            raise RunError(
                f"the task {name} has the label {only[0]!r} in {here}, but not "
                f"in {there}: the runs cannot be averaged"
            )


def kind_of(task: TaskPredictions, path: str) -> Probabilities:
    """The meaning of a task's probabilities.

    Raises:
        ConfigError: it has none.
    """
    kind = check_type(task.name, task.type)
    if task.scores is None:
        raise ConfigError(
            f"{path} has kept no probabilities of the task {task.name}: an "
            "older version scored it. Score it again (launch.evaluate --keep; "
            "launch.baseline in another --model_dir)"
        )
    return kind


def aligned(
    runs: Sequence[System], paths: Sequence[str], split: str
) -> list[System]:
    """The predictions with the labels in the first run's order."""
    ordered = [
        {
            name: _like(runs[0][name], task, (paths[0], path), split)
            for name, task in run.items()
        }
        for run, path in zip(runs, paths)
    ]
    scored_examples.warn_of_other_texts(runs, paths)
    return ordered


def _like(
    first: TaskPredictions,
    task: TaskPredictions,
    paths: tuple[str, str],
    split: str,
) -> TaskPredictions:
    kind, names = kind_of(task, paths[1]), list(task.class_names)
    same = (task.type, task.metrics[0]) == (first.type, first.metrics[0])
    if not same or sorted(names) != sorted(first.class_names):
        raise RunError(
            f"the task {task.name} has other labels, another type or another "
            f"primary metric in {paths[1]} than in {paths[0]}: the runs cannot "
            "be averaged"
        )
    order = [names.index(name) for name in first.class_names]
    labels = kind.renumbered(task.labels, order)
    if not np.array_equal(labels, _rows(first.labels, len(order))):
        raise RunError(
            f"{paths[0]} and {paths[1]} were scored on other examples of the "
            f"split {split!r} of the task {task.name}: they cannot be averaged"
        )
    return dataclasses.replace(
        task,
        class_names=tuple(first.class_names),
        metrics=tuple(first.metrics),
        labels=labels,
        predictions=kind.renumbered(task.predictions, order),
        scores=np.asarray(task.scores, np.float64)[:, order],
    )


def _rows(labels: Any, width: int) -> np.ndarray:
    """Labels without the padding after a task's own."""
    labels = np.asarray(labels)
    return labels[:, :width] if labels.ndim == 2 else labels


def combined(
    members: Mapping[str, Sequence[System]], weights: Sequence[float]
) -> dict[str, System]:
    """The predictions of the weighted mean, by split and task."""
    fitted = {
        name: fitted_on(
            averaged([run[name] for run in members[VALIDATION]], weights)
        )
        for name in members[VALIDATION][0]
    }
    return {
        split: {
            name: decided(
                averaged([run[name] for run in runs], weights), fitted[name]
            )
            for name in runs[0]
        }
        for split, runs in members.items()
    }


def averaged(
    tasks: Sequence[TaskPredictions], weights: Sequence[float]
) -> TaskPredictions:
    """The first of several predictions, with the mean of all probabilities.

    It has none of the values that the runs fitted on validation examples.

    Args:
        tasks: predictions for the same examples, with labels in one order.
        weights: a weight for each, not all 0.
    """
    total = sum(weights)
    scores = sum(
        weight / total * np.asarray(task.scores, np.float64)
        for task, weight in zip(tasks, weights)
    )
    settings = tasks[0].settings.items()
    clean = [np.asarray(t.clean, bool) for t in tasks if t.clean is not None]
    return dataclasses.replace(
        tasks[0],
        scores=scores,
        # An ensemble's clean part is what no member has trained on.
        clean=np.logical_and.reduce(clean) if clean else None,
        losses=None,
        confidences=None,
        settings={k: v for k, v in settings if k not in FITTED_FIELDS},
    )


def _described(task: TaskPredictions) -> dict[str, Any]:
    return {
        "name": task.name,
        "type": task.type,
        "labels": list(task.class_names),
        "metrics": list(task.metrics),
        **task.settings,
    }


def fitted_on(task: TaskPredictions) -> dict[str, Any]:
    """What the type fits on validation examples, for the mean."""
    types, described = prediction_types.of(task.type), _described(task)
    if not types.fits or not len(task.labels):
        return {}
    return types.fit(described, task.labels, {"scores": task.scores})


def decided(
    task: TaskPredictions, fitted: Mapping[str, Any]
) -> TaskPredictions:
    """The predictions of averaged probabilities, with their losses."""
    kind = task_types.of(task.type).probabilities
    outputs = {"scores": task.scores, "prediction": kind.predicted(task.scores)}
    described = {**_described(task), **fitted}
    outputs = prediction_types.of(task.type).decided(described, outputs)
    return dataclasses.replace(
        task,
        predictions=np.asarray(outputs["prediction"]),
        losses=kind.losses(task.labels, task.scores),
        settings={**task.settings, **fitted},
    )


def greedy(
    runs: Sequence[System], rounds: int, paths: Sequence[str]
) -> tuple[list[float], list[dict[str, Any]]]:
    """Chooses members one by one, with repetition (Caruana et al. 2004).

    It begins with the best run. Each round adds the run with which the mean of
    the tasks' primary scores is highest; of equal ones, the one with the lowest
    loss. The result is the best bag of all rounds; a run's weight is its share
    of the bag.

    Args:
        runs: the predictions of each run for the validation examples.
        rounds: the largest number of runs to add.
        paths: the paths of the runs.

    Returns:
        The weights, which sum to 1, and for each round "path" and "mean".
    """
    counts = np.zeros(len(runs))
    best, weights = (-np.inf, -np.inf), counts
    steps = []
    for _ in range(rounds):
        standings = []
        for number in range(len(runs)):
            candidate = counts.copy()
            candidate[number] += 1
            standings.append(_standing(runs, candidate))
        number = max(range(len(runs)), key=lambda n: standings[n])
        counts[number] += 1
        steps.append({"path": paths[number], "mean": standings[number][0]})
        if standings[number] > best:
            best, weights = standings[number], counts.copy()
    return (weights / weights.sum()).tolist(), steps


def _standing(
    runs: Sequence[System], weights: np.ndarray
) -> tuple[float, float]:
    """The mean score of a bag, and its negative loss."""
    predictions = combined({VALIDATION: runs}, weights)[VALIDATION]
    loss = np.mean([np.mean(task.losses) for task in predictions.values()])
    return mean(predictions), -float(loss)


def mean(predictions: System) -> float:
    """The mean of the tasks' primary scores; -inf if there is none."""
    results = evaluator.evaluate(predictions.values(), VALIDATION)
    mean = results["mean"]["overall"]
    return -np.inf if mean is None else mean
