"""Weights averaged over the steps, in place of those of the last step."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf


@contextlib.contextmanager
def averaged(optimizer: keras.optimizers.Optimizer) -> Iterator[None]:
    """Puts the averages of an optimizer's variables in their places.

    When the block ends, the variables are bit by bit what they were. Without
    averages, or before the first step, nothing happens.

    Args:
        optimizer: a built one of `training.optimizers`, or a
            `LossScaleOptimizer` around it.
    """
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    pairs = inner.averages() if int(inner.iterations.numpy()) else []
    with replaced([(variable, average.value) for variable, average in pairs]):
        yield


@contextlib.contextmanager
def replaced(pairs: Sequence[tuple[keras.Variable, Any]]) -> Iterator[None]:
    """Gives variables other values within the block.

    Args:
        pairs: each variable with its value.
    """
    saved = [tf.identity(variable.value) for variable, _ in pairs]
    try:
        for variable, value in pairs:
            variable.assign(value)
        yield
    finally:
        for (variable, _), value in zip(pairs, saved):
            variable.assign(value)


def move_averages(
    variables: Sequence[keras.Variable],
    averages: Sequence[keras.Variable],
    iterations: keras.Variable,
    decay: float,
) -> None:
    """Moves averages towards their variables, by less in later steps.

    With a decay near 1 the average would be of the first weights for thousands
    of steps. As of `tf.train.ExponentialMovingAverage` with a number of
    updates, the decay of step t is at most (1 + t) / (10 + t).

    Args:
        variables: after a step.
        averages: of each; zeros before the first step, which takes its place.
        iterations: steps before this one.
        decay: from 0 to 1.
    """
    step = tf.cast(iterations.value, tf.float32)
    now = tf.minimum(decay, (1.0 + step) / (10.0 + step))
    now = tf.where(step > 0.0, now, 0.0)
    for variable, average in zip(variables, averages):
        value = tf.convert_to_tensor(variable)
        share = tf.cast(1.0 - now, value.dtype)
        average.assign(average.value + share * (value - average.value))
