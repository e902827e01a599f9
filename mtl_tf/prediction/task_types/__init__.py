"""What each task type predicts, and from which inputs."""

from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.prediction.given_texts import GivenTexts
from mtl_tf.prediction.prediction_type import PredictionType, TaskDict


def of(name: str) -> PredictionType:
    """The `PredictionType` of the task type of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names. Or it
            is the user's own, and keeps no losses.
    """
    found = task_types.find(__name__, name, PredictionType)
    if "loss" not in found.outputs:
        raise ConfigError(
            f"{name}: outputs of its part prediction must name 'loss' and what "
            f"predictions are made of, got {', '.join(found.outputs) or '()'}"
        )
    return found


def given_texts_of(task: TaskDict) -> GivenTexts:
    """What scores given texts with the model of a task.

    Raises:
        ConfigError: the model writes no texts.
    """
    given_texts = of(task["type"]).given_texts
    if given_texts is None:
        raise ConfigError(
            f"the task {task['name']} is of the type {task['type']}, whose "
            "models write no texts that could be scored; launch.predict "
            "without --score gives the scores of its labels"
        )
    return given_texts
