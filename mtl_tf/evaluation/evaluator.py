"""From predictions to the structure of `results.json`."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.evaluation import metrics


@dataclasses.dataclass(frozen=True)
class TaskPredictions:
    """What a model said about one task's examples.

    Attributes:
        name: the task's name.
        labels: integers [n], the right answers.
        predictions: integers [n].
        class_names: names of the classes.
        kind: the task's kind.
        metrics: names of the metrics; the first is the primary one.
        losses: numbers [n], the loss of each example, or None.
        clean: bool [n], the clean part (`clean.SeenTexts`), or None where
            it is not known.
        validation_in_training: how many of the task's validation texts
            stand in its training texts too, or None where not known.
        diagnostics: numbers [n] by name that the model gives for each
            example beside its answer, such as whether a discriminator
            guessed the task. They have no part in any score.
    """

    name: str
    labels: Sequence[int] | np.ndarray
    predictions: Sequence[int] | np.ndarray
    class_names: Sequence[str]
    kind: str = "classification"
    metrics: Sequence[str] = ("accuracy", "macro_f1")
    losses: Sequence[float] | np.ndarray | None = None
    clean: Sequence[bool] | np.ndarray | None = None
    validation_in_training: int | None = None
    diagnostics: Mapping[str, Sequence[float] | np.ndarray] = dataclasses.field(
        default_factory=dict
    )


def evaluate(tasks: Iterable[TaskPredictions], split: str) -> dict[str, Any]:
    """Scores every task, and their means.

    Args:
        tasks: the predictions of each task.
        split: name of the split that they belong to.

    Returns:
        A structure for `results.json`, all scores from 0 to 100:

            {"split": split,
             "tasks": {name: {"kind": kind, "primary": metric,
                              "examples": n, metric: score, ...,
                              "loss": mean loss,
                              "confusion": {"classes": names,
                                            "matrix": [[count, ...], ...]},
                              "clean": {"examples": n, metric: score, ...},
                              "validation_in_training": count,
                              "diagnostics": {name: mean, ...}}},
             "mean": {"overall": score, kind: score, ...,
                      "clean": {"overall": score, kind: score, ...},
                      "diagnostics": {name: mean, ...}}}

        The rows of a matrix are labels, its columns predictions. The means
        are over the tasks' primary metrics, those of diagnostics over the
        tasks' means. The score of an empty part is None, and no mean counts
        it. What is not known is absent.

    Raises:
        ConfigError: a metric has an unknown name.
        ValueError: the arrays of a task do not fit together.
    """
    scored = {task.name: _score(task) for task in tasks}
    return {"split": split, "tasks": scored, "mean": mean(scored)}


def mean(tasks: dict[str, dict]) -> dict[str, Any]:
    """The means over tasks, as `evaluate` describes them.

    Args:
        tasks: the scores by task name; runs that train every task alone
            join theirs here.

    Returns:
        The part `mean` of the results.
    """
    result = _means([(task["kind"], _primary(task)) for task in tasks.values()])
    parts = [
        (task["kind"], task["clean"].get(task["primary"]))
        for task in tasks.values()
        if "clean" in task
    ]
    if parts:
        result["clean"] = _means(parts)
    diagnostics = _mean_diagnostics(tasks.values())
    if diagnostics:
        result["diagnostics"] = diagnostics
    return result


def _mean_diagnostics(tasks: Iterable[dict]) -> dict[str, float | None]:
    by_name: dict[str, list[float]] = {}
    for task in tasks:
        for name, value in task.get("diagnostics", {}).items():
            by_name.setdefault(name, [])
            if value is not None:
                by_name[name].append(value)
    return {name: _mean(values) for name, values in by_name.items()}


def _primary(task: dict) -> float | None:
    return task[task["primary"]]


def _means(scores: list[tuple[str, float | None]]) -> dict[str, Any]:
    known = [(kind, score) for kind, score in scores if score is not None]
    means = {"overall": _mean([score for _, score in known])}
    for kind in sorted({kind for kind, _ in scores}):
        means[kind] = _mean([score for k, score in known if k == kind])
    return means


def _mean(scores: list[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _score(task: TaskPredictions) -> dict[str, Any]:
    labels = np.asarray(task.labels).reshape(-1)
    predictions = np.asarray(task.predictions).reshape(-1)
    result: dict[str, Any] = {
        "kind": task.kind,
        "primary": task.metrics[0],
        **_part(task.metrics, labels, predictions),
        "confusion": _confusion(task.class_names, labels, predictions),
    }
    if task.losses is not None:
        result["loss"] = _mean_of(task.name, "losses", task.losses, len(labels))
    if task.clean is not None:
        clean = np.asarray(task.clean, dtype=bool).reshape(-1)
        _same_length(task.name, "clean", clean, len(labels))
        part = _part(task.metrics, labels[clean], predictions[clean])
        result["clean"] = part
    if task.validation_in_training is not None:
        result["validation_in_training"] = int(task.validation_in_training)
    if task.diagnostics:
        result["diagnostics"] = {
            name: _mean_of(
                task.name, f"diagnostics {name}", values, len(labels)
            )
            for name, values in task.diagnostics.items()
        }
    return result


def _part(names: Sequence[str], labels, predictions) -> dict[str, Any]:
    scores: dict[str, Any] = {"examples": len(labels)}
    for name in names:
        score = metrics.get(name)(labels, predictions)
        scores[name] = score if len(labels) else None
    return scores


def _confusion(class_names: Sequence[str], labels, predictions) -> dict:
    names = list(class_names)
    matrix = metrics.confusion_matrix(labels, predictions, len(names))
    return {"classes": names, "matrix": matrix.astype(int).tolist()}


def _mean_of(task: str, what: str, values, examples: int) -> float | None:
    values = np.asarray(values, dtype=np.float64).reshape(-1)
    _same_length(task, what, values, examples)
    return _mean(values.tolist())


def _same_length(name: str, what: str, values: np.ndarray, length: int) -> None:
    if len(values) != length:
        raise ValueError(
            f"task {name}: {what} must have one value for each of the "
            f"{length} examples, got {len(values)}"
        )
