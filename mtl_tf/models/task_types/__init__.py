"""The head of each task type, for models with a sharing scheme."""

import importlib.util

from mtl_tf.core import own_functions, task_types
from mtl_tf.models.head_type import HeadType


def fields() -> list[str]:
    """The fields of the config's `model` that only some task types use."""
    types = (of(name) for name in task_types.NAMES if has(name))
    return [field for head_type in types for field in head_type.fields]


def has(name: str) -> bool:
    """Whether tasks of a type have a head on a sharing scheme."""
    if own_functions.is_own(name):
        return True
    return importlib.util.find_spec(f"{__name__}.{name}") is not None


def of(name: str) -> HeadType:
    """The `HeadType` of the task type with that name.

    Raises:
        ConfigError: there is none. The message offers the nearest names.
    """
    return task_types.find(__name__, name, HeadType)
