"""Learning-rate schedules by name, with a linear warm-up."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
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


#: Those whose learning rate at a step depends on where the training ends.
DECAYING = ("linear", "cosine")

SCHEDULES = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "inverse_sqrt": _inverse_sqrt,
}


@keras.saving.register_keras_serializable(package="mtl_tf")
class WarmupThen(keras.optimizers.schedules.LearningRateSchedule):
    """A linear warm-up to `peak`, then one of `SCHEDULES`.

    Args:
        peak: the highest learning rate.
        name: what follows the warm-up: constant; linear or cosine, both to 0
            at `total_steps`; inverse_sqrt, peak * sqrt(warmup / step).
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
        look_up(name, SCHEDULES, "learning-rate schedule")
        self.peak = checks.positive("training.optimizer.learning_rate", peak)
        self.name = name
        self.warmup_steps = checks.not_negative_integer(
            "training.optimizer.warmup_steps", warmup_steps
        )
        self.total_steps = checks.positive_integer("total_steps", total_steps)

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        """The learning rate of `step` (a scalar, 0 for the first)."""
        done = tf.cast(step, tf.float32) + 1.0
        warmup = float(self.warmup_steps)
        left = max(self.total_steps - self.warmup_steps, 1)
        progress = tf.clip_by_value((done - 1.0 - warmup) / left, 0.0, 1.0)
        factor = SCHEDULES[self.name](progress, done, warmup)
        if self.warmup_steps:
            factor = tf.where(done <= warmup, done / warmup, factor)
        return self.peak * factor

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return {
            "peak": self.peak,
            "name": self.name,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
        }
