"""Task types as exports see them: served functions."""

from typing import Any

from mtl_tf.core import task_types


def of(name: str) -> Any:
    """The subclass of `Served` of the task type of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    # Imported here, as programs that parse flags first must not import
    # TensorFlow.
    from ..serving import Served

    return task_types.find(__name__, name, Served)
