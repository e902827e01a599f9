"""Task types as tasks see them: config entries, examples, metrics."""

from mtl_tf.core import task_types
from mtl_tf.tasks.task_type import TaskType


def of(name: str) -> TaskType:
    """The task type of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return task_types.find(__name__, name, TaskType)
