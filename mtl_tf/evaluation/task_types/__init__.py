"""Task types as evaluation sees them: scorers, and files of predictions."""

from mtl_tf.core import task_types
from mtl_tf.evaluation.scoring import Scoring


def of(name: str) -> Scoring:
    """The `Scoring` of the task type of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return task_types.find(__name__, name, Scoring)
