"""Titles of metrics and the format of their scores, for all outputs."""

from collections.abc import Mapping
from typing import Any

from mtl_tf.core import task_types as type_names
from mtl_tf.evaluation import task_types

_NONE = "-"


def metric_title(name: str) -> str:
    """The title of a metric in tables."""
    return _about_metric("titles", name, name)


def _about_metric(about: str, metric: str, default: Any) -> Any:
    """What the first task type that knows a metric says about it."""
    tables = (
        getattr(task_types.of(name), about) for name in type_names.known()
    )
    return next((table[metric] for table in tables if metric in table), default)


def shown_score(metric: str, value: float | None) -> str:
    """A metric's score in the format of all tables."""
    return shown_number(value, _about_metric("digits", metric, 1))


def shown_number(value: float | None, digits: int = 1) -> str:
    """A score or a loss; a dash if there is none."""
    return _NONE if value is None else f"{value:.{digits}f}"


def mean_format(tasks: Mapping[str, Mapping]) -> tuple[str, float]:
    """How to show the mean over tasks beside their scores.

    In results, the mean of metrics for which lower is better is negated.

    Args:
        tasks: the scores of each task by name, as in `results.json`.

    Returns:
        The tasks' primary metric, or "" if they have several; and the factor
        that gives the mean the sign of the metric, 1 or -1.
    """
    primary = {task["primary"] for task in tasks.values()}
    if len(primary) != 1:
        return "", 1.0
    lower = any(task.get("lower_is_better") for task in tasks.values())
    return primary.pop(), -1.0 if lower else 1.0


def shown_count(value: int | None) -> str:
    """A number of examples; a dash if there is none."""
    return _NONE if value is None else str(value)


def diagnostic(value: float | None) -> str:
    """A number that a scheme reports, with at least three digits."""
    if value is None or abs(value) >= 10:
        return shown_number(value)
    return f"{value:.3g}"
