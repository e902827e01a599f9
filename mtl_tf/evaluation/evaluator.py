"""Turns predictions into the structure of `results.json`."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.task_types import title
from mtl_tf.evaluation import task_types
from mtl_tf.evaluation.probabilities import quality
from mtl_tf.evaluation.scoring import TaskPredictions, check_length
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.own_metrics import higher_is_better


def evaluate(tasks: Iterable[TaskPredictions], split: str) -> dict[str, Any]:
    """Scores every task, and averages over tasks.

    Args:
        tasks: the predictions of each task.
        split: the name of their split.

    Returns:
        The structure of `results.json`. Scores are from 0 to 100 (correlations
        from -100, errors in units of their values):

            {"split": split,
             "tasks": {name: {"type": type, "primary": metric,
                              "examples": n, metric: score, ...,
                              "loss": mean loss,
                              "clean": {"examples": n, metric: score, ...},
                              "validation_in_training": count,
                              "diagnostics": {name: mean, ...}}},
             "mean": {"overall": score, type: score, ...,
                      "clean": {"overall": score, type: score, ...},
                      "diagnostics": {name: mean, ...}}}

        If a task's probabilities have a fitted temperature, the task has
        "calibration": the temperature, the result of `probabilities.quality`,
        and as "before" the same without the temperature.

        A task also has the details of its type's scorer (see
        `mtl_tf.evaluation.task_types`), and `"lower_is_better": True` if that
        holds for its primary metric. The means are over the tasks' primary
        metrics. Metrics for which lower is better are negated first, so a
        higher mean is better. The means of diagnostics are over the tasks'
        means. The score of an empty part is None and is left out of means.
        Unknown values are absent.

    Raises:
        ConfigError: a metric has an unknown name.
        ValueError: a task's arrays do not match in length.
    """
    scored = {task.name: _score(task) for task in tasks}
    return {"split": split, "tasks": scored, "mean": mean(scored)}


def mean(tasks: dict[str, dict]) -> dict[str, Any]:
    """The means over tasks, as `evaluate` describes them.

    Args:
        tasks: the scores by task name, also from several single-task runs.

    Returns:
        The part `mean` of the results.
    """
    result = _means([(title(t["type"]), _gain(t, t)) for t in tasks.values()])
    parts = [
        (title(task["type"]), _gain(task, task["clean"]))
        for task in tasks.values()
        if "clean" in task
    ]
    if parts:
        result["clean"] = _means(parts)
    diagnostics = _mean_diagnostics(tasks.values())
    if diagnostics:
        result["diagnostics"] = diagnostics
    return result


def by_metric(scores: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """A task's scores with another primary metric, for `mean`.

    Args:
        scores: the task's part of the results.
        metric: one of its metrics. Of a user's own metric that was not the
            primary one, a higher value is taken to be better.
    """
    if metric == scores["primary"]:
        return dict(scores)
    changed = {**scores, "primary": metric}
    changed.pop("lower_is_better", None)
    declared = types_of_tasks.of(scores["type"]).metrics
    if not higher_is_better(metric, declared, {}):
        changed["lower_is_better"] = True
    return changed


def brief(results: Mapping[str, Any]) -> dict[str, Any]:
    """The part of `evaluate`'s results for a line of `metrics.jsonl`.

    Returns:
        {"mean": score, "tasks": {name: {metric: number, ...,
        "diagnostics": {name: mean, ...}}}, "diagnostics": {name: mean, ...}}.
    """
    tasks = {
        name: {
            key: value
            for key, value in scores.items()
            if isinstance(value, (int, float))
            and key not in ("examples", "tokens")
            or key == "diagnostics"
        }
        for name, scores in results["tasks"].items()
    }
    means = results["mean"]
    entry = {"mean": means["overall"], "tasks": tasks}
    if "diagnostics" in means:
        entry["diagnostics"] = means["diagnostics"]
    return entry


def _mean_diagnostics(tasks: Iterable[dict]) -> dict[str, float | None]:
    by_name: dict[str, list[float]] = {}
    for task in tasks:
        for name, value in task.get("diagnostics", {}).items():
            by_name.setdefault(name, [])
            if value is not None:
                by_name[name].append(value)
    return {name: _mean(values) for name, values in by_name.items()}


def _gain(task: dict, part: dict) -> float | None:
    """A part's primary score, negated if lower is better."""
    score = part.get(task["primary"])
    if score is None or not task.get("lower_is_better"):
        return score
    return -score


def _means(scores: list[tuple[str, float | None]]) -> dict[str, Any]:
    known = [(name, score) for name, score in scores if score is not None]
    means = {"overall": _mean([score for _, score in known])}
    for task_type in sorted({name for name, _ in scores}):
        means[task_type] = _mean([s for n, s in known if n == task_type])
    return means


def _mean(scores: list[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _score(task: TaskPredictions) -> dict[str, Any]:
    scorer = task_types.of(task.type).scorer_of(task)
    size, primary = scorer.size, task.metrics[0]
    scores = scorer.part(np.ones(size, bool))
    if absent := [m for m in ("examples", *task.metrics) if m not in scores]:
        raise ConfigError(
            f"the scorer of {title(task.type)} must return "
            f"{', '.join(('examples', *task.metrics))} for the task "
            f"{task.name}, and lacks {', '.join(absent)}"
        )
    result: dict[str, Any] = {
        "type": task.type,
        "primary": primary,
        **scores,
        **scorer.details(),
    }
    declared = types_of_tasks.of(task.type).metrics
    if not higher_is_better(primary, declared, task.settings):
        result["lower_is_better"] = True
    calibration = _calibration(task) if size else {}
    if calibration:
        result["calibration"] = calibration
    if task.losses is not None:
        result["loss"] = _mean_of(task.name, "losses", task.losses, size)
    if task.clean is not None:
        clean = np.asarray(task.clean, dtype=bool).reshape(-1)
        check_length(task.name, "clean", clean, size)
        result["clean"] = scorer.part(clean)
    if task.validation_in_training is not None:
        result["validation_in_training"] = int(task.validation_in_training)
    if task.diagnostics:
        result["diagnostics"] = {
            name: _mean_of(task.name, f"diagnostics {name}", values, size)
            for name, values in task.diagnostics.items()
        }
    return result


def _calibration(task: TaskPredictions) -> dict[str, Any]:
    """The quality of probabilities with and without their temperature."""
    kind = task_types.of(task.type).probabilities
    temperature = task.settings.get("temperature")
    if kind is None or task.scores is None or not temperature:
        return {}
    scores = np.asarray(task.scores)[:, : len(task.class_names)]
    before = kind.tempered(scores, 1.0 / temperature)
    return {
        "temperature": temperature,
        **quality(kind, task.labels, scores),
        "before": quality(kind, task.labels, before),
    }


def _mean_of(task: str, quantity: str, values, examples: int) -> float | None:
    values = np.asarray(values, dtype=np.float64).reshape(-1)
    check_length(task, quantity, values, examples)
    return _mean(values.tolist())
