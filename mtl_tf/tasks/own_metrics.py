"""Metrics of a task that are functions of the user's own.

A name among the `metrics` of an entry that has a place before it, such as
"my_metrics.py:kappa" or "package.module:kappa", is a function

    def kappa(labels, predictions):
        ...
        return score

of two lists with what predictions show of the examples: the names of labels, a
list of them of a text with several or of a sentence, a number, a text. It
returns a number. A higher one is better, unless the function has the attribute
`lower_is_better = True`. Results call it by the function's name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError

#: Of a task's settings: the places of its functions by name.
SETTING = "own_metrics"
_LOWER = "own_metrics_lower"


def split(
    names: Sequence[str], known: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Tells the functions among an entry's metrics.

    Args:
        names: the entry's `metrics`.
        known: the metrics that the task's type has.

    Returns:
        Names of all metrics, and settings that hold the places of the
        functions; {} where there is none.

    Raises:
        ConfigError: a function cannot be imported, or has a name that is
            known.
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
    """The functions of a task's own metrics by name."""
    return settings.get(SETTING, {})


def higher_is_better(
    metric: str, declared: Mapping[str, Any], settings: Mapping[str, Any]
) -> bool:
    """Whether a higher value of a metric is better.

    Args:
        metric: its name.
        declared: the metrics of the task's type.
        settings: of the task.
    """
    if metric in places(settings):
        return metric not in settings.get(_LOWER, ())
    return metric not in declared or declared[metric].higher_is_better
