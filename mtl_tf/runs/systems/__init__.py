"""The kinds of models that runs train, one module each."""

import importlib

from mtl_tf.runs.system import System
from mtl_tf.tasks import task_types


def of_type(task_type: str) -> System:
    """The system of the tasks of a type.

    Raises:
        ConfigError: there is no such type.
    """
    name = task_types.of(task_type).system
    return importlib.import_module(f"{__name__}.{name}").SYSTEM
