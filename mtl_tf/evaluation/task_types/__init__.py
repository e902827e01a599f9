"""What each task type is to evaluation: a scorer, and files of predictions."""

from mtl_tf.core import task_types
from mtl_tf.evaluation.scoring import Scoring


def of(name: str) -> Scoring:
    """How tasks of the type of that name are scored.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    return task_types.find(__name__, name, Scoring)
