"""Metrics that are functions of the user's own.

A name among an entry's `metrics` may have the place of a function, such as
"my_metrics.py:kappa" or "package.module:kappa". The function

    def kappa(labels, predictions):
        ...
        return score

gets two lists of readable values: for each example a label name, a list of
names (multi-label, tagging), a number or a text. It returns a number. Higher is
better unless the function has the attribute `lower_is_better = True`. Results
use the function's name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError

#: The task setting that holds the places of the functions, by name.
SETTING = "own_metrics"
_LOWER = "own_metrics_lower"


def split(
    names: Sequence[str], known: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Finds the functions among an entry's metrics.

    Args:
        names: the entry's `metrics`.
        known: the metrics of the task's type.

    Returns:
        The names of all metrics, and settings with the places of the functions,
        or {} without any.

    Raises:
        ConfigError: a function cannot be imported, or has the name of a known
            metric.
    """
    functions: dict[str, str] = {}
    lower, metrics = [], []
    for name in names:
        if own_functions.is_own(name):
            path = own_functions.absolute(name)
            name = own_functions.name_of(name)
            if name in known or name in functions:
                raise ConfigError(
                    f"metrics: there is another metric {name!r}: rename the "
                    f"function in {path}"
                )
            function = own_functions.load(path)
            functions[name] = path
            if getattr(function, "lower_is_better", False):
                lower.append(name)
        metrics.append(name)
    settings = {SETTING: functions, _LOWER: lower} if functions else {}
    return tuple(metrics), settings


def places(settings: Mapping[str, Any]) -> Mapping[str, str]:
    """The places of a task's own metric functions, by name."""
    return settings.get(SETTING, {})


def higher_is_better(
    metric: str, declared: Mapping[str, Any], settings: Mapping[str, Any]
) -> bool:
    """Whether a higher value of a metric is better.

    Args:
        metric: the metric's name.
        declared: the metrics of the task's type.
        settings: the task's settings.
    """
    if metric in places(settings):
        return metric not in settings.get(_LOWER, ())
    return metric not in declared or declared[metric].higher_is_better
