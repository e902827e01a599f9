"""What each task type is to the baselines: what beats guessing."""

from mtl_tf.baselines.yardstick import Yardstick
from mtl_tf.core import task_types


def of(name: str) -> Yardstick:
    """The yardstick of the type of that name.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    return task_types.find(__name__, name, Yardstick)
