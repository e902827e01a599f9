"""Which of a task's labels the metrics of one label are of."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

FIELD = "positive_label"
#: What needs one.
METRICS = ("f1", "roc_auc", "average_precision")

_SHOWN = 10


def positive_label(labels: Sequence[str], settings: Mapping[str, Any]) -> str:
    """The label that is named, or the second of two.

    Args:
        labels: the task's.
        settings: its own, or its entry.

    Raises:
        ConfigError: there is no such label, or several to choose from.
    """
    if FIELD in settings:
        label = settings[FIELD]
        if isinstance(label, int):
            label = json.dumps(label)  # as labels are read of files
        return checks.one_of(FIELD, label, labels)
    if len(labels) != 2:
        more = ", ..." if len(labels) > _SHOWN else ""
        raise ConfigError(
            f"the metrics {', '.join(METRICS)} are of one label: {FIELD} must "
            f"name it, one of {', '.join(labels[:_SHOWN])}{more}"
        )
    return labels[1]
