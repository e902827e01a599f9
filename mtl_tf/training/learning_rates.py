"""Learning-rate schedules by name, with a linear warm-up."""

from collections.abc import Callable

import keras
import tensorflow as tf

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up


def _constant(progress, step, warmup):
    return tf.ones_like(progress)


def _linear(progress, step, warmup):
    return 1.0 - progress


def _cosine(progress, step, warmup):
    return 0.5 * (1.0 + tf.cos(3.141592653589793 * progress))


def _inverse_sqrt(progress, step, warmup):
    start = tf.cast(max(warmup, 1), tf.float32)
    return tf.sqrt(start / tf.maximum(step, start))


# Those whose learning rate at a step depends on where the training ends.
_DECAYING = ("linear", "cosine")

SCHEDULES = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "inverse_sqrt": _inverse_sqrt,
}


def decays(name: str) -> bool:
    """Whether the learning rate at a step depends on where training ends.

    Of a function of the user's own nobody knows.
    """
    return name in _DECAYING or own_functions.is_own(name)


def function_of(name: str) -> Callable[..., tf.Tensor]:
    """What the peak is multiplied with.

    Args:
        name: a name of `SCHEDULES`, or the place of a function of the user's
            own such as "my_rates.py:steps" (see `own_functions.load`), which
            takes `progress`, from 0 behind the warm-up to 1 at the last step,
            `step`, from 1 on, both float32 scalars, and `warmup`, a float,
            the steps of the warm-up; and returns a scalar.

    Raises:
        ConfigError: there is no such name or function, or it returns
            anything else.
    """
    if not own_functions.is_own(name):
        return look_up(name, SCHEDULES, "learning-rate schedule")
    function = own_functions.load(name)

    def factor(progress, step, warmup):
        try:
            scalar = tf.convert_to_tensor(function(progress, step, warmup))
            return tf.ensure_shape(tf.cast(scalar, tf.float32), [])
        except Exception as error:
            error_text = own_functions.complaint(error)
            error_text = error_text or f"{type(error).__name__}: {error}"
            raise ConfigError(
                f"the schedule {name} must return a scalar for (progress, "
                f"step, warmup): {error_text}"
            )

    factor(tf.constant(0.5), tf.constant(1.0), 0.0)
    return factor


@keras.saving.register_keras_serializable(package="mtl_tf")
class WarmupThen(keras.optimizers.schedules.LearningRateSchedule):
    """A linear warm-up to `peak`, then one of `SCHEDULES`.

    Args:
        peak: the highest learning rate.
        name: what follows the warm-up: constant; linear or cosine, both to 0
            at `total_steps`; inverse_sqrt, peak * sqrt(warmup / step); or the
            place of a function, see `function_of`.
        warmup_steps: steps of the warm-up, 0 for none.
        total_steps: steps of the training.

    Raises:
        ConfigError: an unknown name or a number out of range.
    """

    def __init__(
        self,
        peak: float,
        name: str = "constant",
        warmup_steps: int = 0,
        total_steps: int = 1,
    ):
        self._factor = function_of(name)
        self.peak = checks.positive("training.optimizer.learning_rate", peak)
        self.name = name
        self.warmup_steps = checks.not_negative_integer(
            "training.optimizer.warmup_steps", warmup_steps
        )
        self.total_steps = checks.positive_integer("total_steps", total_steps)

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        """The learning rate of `step` (a scalar, 0 for the first)."""
        count = tf.cast(step, tf.float32) + 1.0
        warmup = float(self.warmup_steps)
        left = max(self.total_steps - self.warmup_steps, 1)
        progress = tf.clip_by_value((count - 1.0 - warmup) / left, 0.0, 1.0)
        factor = self._factor(progress, count, warmup)
        if self.warmup_steps:
            factor = tf.where(count <= warmup, count / warmup, factor)
        return self.peak * factor

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return {
            "peak": self.peak,
            "name": self.name,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
        }
