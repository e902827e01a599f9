"""What is served of each task type."""

import importlib
from typing import Any

from mtl_tf.core.names import look_up
from mtl_tf.core.task_types import NAMES


def of(name: str) -> Any:
    """The subclass of `Served` of the task type of that name.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    look_up(name, dict.fromkeys(NAMES), "task type")
    return importlib.import_module(f"{__name__}.{name}").TYPE
