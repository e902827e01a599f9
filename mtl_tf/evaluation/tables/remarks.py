"""Remarks below a table of scores: sentences and facts."""

from collections.abc import Iterator
from typing import Any

from mtl_tf.core.durations import duration
from mtl_tf.evaluation import task_types
from mtl_tf.evaluation.tables.score_format import (
    diagnostic,
    metric_title,
    shown_score,
)

_FACTS = {
    "name": "config",
    "seed": "seed",
    "parameters": "parameters",
    "trainable_parameters": "trainable parameters",
    "parameters_without_embedding": "parameters without embeddings",
    "own_parameters_per_task": "own parameters per task",
    "main_tasks": "main tasks, which chose the weights",
    "best_step": "best step",
    "best_steps": "best step of each task",
    "encoder_shares": "share of the encoder beside n-grams",
    "wall_time": "wall time",
    "hardware": "hardware",
    "versions": "versions",
}
# Shown with their share of all parameters.
_PARTS = ("trainable_parameters", "own_parameters_per_task")


def warnings(results: dict[str, Any]) -> list[str]:
    """A warning for each task whose model has learnt too little.

    Args:
        results: as for `tables.console`.
    """
    return beaten(results) + [
        f"Warning: on {name}, {said['count']:,} of {task['examples']:,} "
        f"predictions are {_quoted(said['text'])}: the model has learnt too "
        "little. Train longer, or on more examples."
        for name, task in results["tasks"].items()
        if (said := task.get("repeated"))
    ]


def _quoted(text: str) -> str:
    return f"the same text, {text!r:.60}" if text else "empty"


def beaten(results: dict[str, Any]) -> list[str]:
    """A warning for each task whose model does not beat a baseline.

    Args:
        results: as for `tables.console`.
    """
    warnings = []
    for name, task in results["tasks"].items():
        metric, score = task["primary"], task[task["primary"]]
        sign = -1 if task.get("lower_is_better") else 1
        better = [
            f"{yardstick} ({shown_score(metric, value)})"
            for yardstick, value in task.get("yardsticks", {}).items()
            if score is not None and sign * value >= sign * score
        ]
        if better:
            warnings.append(
                f"Warning: on {name} the model ({shown_score(metric, score)} "
                f"{metric_title(metric)}) is not better than "
                f"{' and '.join(better)}."
            )
    return warnings


def beside(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Joint scores of types, diagnostics of schemes, and calibration."""
    yield from _totals(results)
    yield from _diagnostics(results)
    yield from _calibrations(results)


def _totals(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The joint scores of all tasks of a type."""
    by_type: dict[str, dict] = {}
    for name, task in results["tasks"].items():
        by_type.setdefault(task["type"], {})[name] = task
    for task_type, tasks in by_type.items():
        if sentence := task_types.of(task_type).total(tasks):
            yield sentence


def _calibrations(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The quality of the probabilities of tasks with a temperature."""
    for name, task in results["tasks"].items():
        if quality := task.get("calibration"):
            before = quality["before"]
            yield (
                f"probabilities of {name}",
                f"calibration error {quality['calibration_error']:.1f} % "
                f"({before['calibration_error']:.1f} % without the "
                f"temperature {quality['temperature']:.2f}), Brier score "
                f"{quality['brier']:.3f} ({before['brier']:.3f})",
            )


def signatures(results: dict) -> Iterator[tuple[str, str]]:
    """How scores were computed; shown once if it is the same for all."""
    by_signature: dict[tuple[str, str], list[str]] = {}
    for name, task in results["tasks"].items():
        for metric, signature in task.get("signatures", {}).items():
            by_signature.setdefault((metric, signature), []).append(name)
    metrics = [metric for metric, _ in by_signature]
    for (metric, signature), names in by_signature.items():
        title = metric_title(metric)
        if metrics.count(metric) > 1:
            title += f" of {', '.join(names)}"
        yield title, signature


def _diagnostics(results: dict) -> Iterator[tuple[str, str]]:
    for name, value in results["mean"].get("diagnostics", {}).items():
        yield f"mean {name.replace('_', ' ')}", diagnostic(value)


def facts(results: dict) -> Iterator[tuple[str, str]]:
    """The known facts about the run, by the titles in `_FACTS`."""
    run, titles = dict(results.get("run", {})), dict(_FACTS)
    if run.get("trainable_parameters") in (None, run.get("parameters")):
        run.pop("trainable_parameters", None)
    else:  # If some are frozen, those without embeddings are the others.
        key = "parameters_without_embedding"
        titles[key] = f"trainable {titles[key]}"
    for key, title in titles.items():
        if run.get(key) not in (None, ""):
            fact = _fact(key, run[key])
            if key in _PARTS:
                fact += f" ({100 * run[key] / run['parameters']:.1f} %)"
            yield title, fact


def _fact(key: str, value: Any) -> str:
    if key == "wall_time":
        return duration(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int) and key != "seed":
        return f"{value:,}"
    return str(value)
