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


# Schedules whose learning rate at a step depends on the total steps.
_DECAYING = ("linear", "cosine")

SCHEDULES = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "inverse_sqrt": _inverse_sqrt,
}


def decays(name: str) -> bool:
    """Whether the learning rate at a step depends on the total steps.

    For a user's function this is unknown, so the answer is yes.
    """
    return name in _DECAYING or own_functions.is_own(name)


def function_of(name: str) -> Callable[..., tf.Tensor]:
    """The function whose value multiplies the peak learning rate.

    Args:
        name: a name in `SCHEDULES`, or the path of a user's function such as
            "my_rates.py:steps" (see `own_functions.load`). Its arguments are
            `progress`, a float32 scalar: the share of the steps after the
            warm-up that are done, 0 at the first of them and not yet 1 at the
            last; `step`, a float32 scalar that starts at 1; and `warmup`, the
            number of warm-up steps as a float. It returns a scalar.

    Raises:
        ConfigError: the name or function does not exist, or it does not return
            a scalar.
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
    """A linear warm-up to `peak`, followed by one of `SCHEDULES`.

    Args:
        peak: the highest learning rate.
        name: the schedule after the warm-up: constant; linear or cosine, which
            both fall towards 0, where the step after the last would be;
            inverse_sqrt, peak * sqrt(warmup / step); or the path of a function,
            see `function_of`.
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
