"""Weights of auxiliary losses that grow with the training step."""

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

NAMES = ["constant", "linear", "sigmoid"]


def check_ramp(field: str, name: str, start: int, steps: int) -> None:
    """Checks the arguments of `ramp`.

    Args:
        field: name of the loss. Errors name `field_schedule`, `field_start` and
            `field_steps`.
        name, start, steps: see `ramp`.

    Raises:
        ConfigError: an argument is wrong.
    """
    checks.one_of(f"{field}_schedule", name, NAMES)
    checks.not_negative_integer(f"{field}_start", start)
    checks.not_negative_integer(f"{field}_steps", steps)
    if (name == "constant") != (steps == 0):
        rule = "0" if name == "constant" else "positive"
        raise ConfigError(
            f"{field}_steps must be {rule} for the {name} {field}_schedule, "
            f"got {steps}"
        )


def ramp(name: str, step: tf.Tensor, start: int, steps: int) -> tf.Tensor:
    """A factor from 0 to 1 that depends only on the step.

    Let `p = (step - start) / steps`, clipped to [0, 1]. "constant" is 0 before
    `start` and 1 from then on. "linear" is p. "sigmoid" is
    `2 / (1 + exp(-10 p)) - 1`, the schedule of Ganin and Lempitsky (2015),
    section 4, whose p covers their whole training.

    Args:
        name: name of the schedule.
        step: an integer scalar, 0 for the first step.
        start: the step before which the factor is 0.
        steps: number of steps for which it grows; 0 if "constant".

    Returns:
        A float32 scalar.
    """
    past = tf.cast(step, tf.float32) - float(start)
    if name == "constant":
        return tf.cast(past >= 0, tf.float32)
    part = tf.clip_by_value(past / float(steps), 0.0, 1.0)
    if name == "linear":
        return part
    return 2.0 / (1.0 + tf.exp(-10.0 * part)) - 1.0
