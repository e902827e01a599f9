"""Weights averaged over the training steps."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

# From this number of elements on, temporary tensors take far longer than an
# average itself.
_LARGE = 1 << 20


@contextlib.contextmanager
def averaged(optimizer: keras.optimizers.Optimizer) -> Iterator[None]:
    """Within the block an optimizer's variables hold their averages.

    Afterwards the variables are restored bit by bit. Nothing happens if there
    are no averages, or before the first step.

    Args:
        optimizer: a built optimizer of `training.optimizers`, or a
            `LossScaleOptimizer` around one.
    """
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    pairs = inner.averages() if int(inner.iterations.numpy()) else []
    with replaced([(variable, average.value) for variable, average in pairs]):
        yield


@contextlib.contextmanager
def replaced(pairs: Sequence[tuple[keras.Variable, Any]]) -> Iterator[None]:
    """Within the block variables have other values.

    Args:
        pairs: each variable with its temporary value.
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
    """Moves averages towards their variables; earlier steps move them more.

    With a constant decay near 1, the first weights would dominate the average
    for thousands of steps. Therefore the decay of step t is at most (1 + t) /
    (10 + t), as in `tf.train.ExponentialMovingAverage` with `num_updates`.

    Args:
        variables: the variables after a step.
        averages: one average per variable. They are zeros before the first
            step, which sets them to its weights.
        iterations: number of steps before this one.
        decay: from 0 to 1.
    """
    step = tf.cast(iterations.value, tf.float32)
    now = tf.minimum(decay, (1.0 + step) / (10.0 + step))
    now = tf.where(step > 0.0, now, 0.0)
    # Several replicas, such as TPU cores, keep to single operations: what one
    # pass gains was measured on one processor.
    strategy = tf.distribute.get_strategy()
    alone = strategy.num_replicas_in_sync == 1
    for variable, average in zip(variables, averages):
        value = tf.convert_to_tensor(variable)
        share = tf.cast(1.0 - now, value.dtype)
        if alone and value.shape.num_elements() >= _LARGE:
            _move_at_once(average.value, value, share)
        else:
            average.assign(average.value + share * (value - average.value))


@tf.function(jit_compile=True, reduce_retracing=True, autograph=False)
def _move_at_once(
    average: tf.Variable, value: tf.Tensor, share: tf.Tensor
) -> None:
    """Moves one average in one pass over memory, without temporary tensors.

    These cost several times as much as the computation.
    """
    average.assign(average + share * (value - average))
