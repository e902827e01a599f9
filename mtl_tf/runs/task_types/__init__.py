"""What each task type is to a run: its predictions."""

from mtl_tf.core import task_types
from mtl_tf.runs.prediction_type import PredictionType


def of(name: str) -> PredictionType:
    """How tasks of the type of that name are predicted.

    Raises:
        ConfigError: there is none; the nearest names are offered.
    """
    return task_types.find(__name__, name, PredictionType)
