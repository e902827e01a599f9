"""What is served of each task type."""

from typing import Any

from mtl_tf.core import task_types


def of(name: str) -> Any:
    """The subclass of `Served` of the task type of that name.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    # Here, since programs that read flags first must not import TensorFlow.
    from ..serving import Served

    return task_types.find(__name__, name, Served)
