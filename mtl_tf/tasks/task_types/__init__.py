"""What each task type is to its tasks: entries, examples, metrics."""

from mtl_tf.core import task_types
from mtl_tf.tasks.task_type import TaskType


def of(name: str) -> TaskType:
    """The task type of that name.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    return task_types.find(__name__, name, TaskType)
