"""Weights averaged over the steps, in place of those of the last step."""

import contextlib
from collections.abc import Iterator

import keras
import tensorflow as tf

from mtl_tf.training.optimizers import ExactSparseMixin


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
    assert isinstance(inner, ExactSparseMixin)
    pairs = inner.averages() if int(inner.iterations.numpy()) else []
    kept = [tf.identity(variable.value) for variable, _ in pairs]
    try:
        for variable, average in pairs:
            variable.assign(average.value)
        yield
    finally:
        for (variable, _), value in zip(pairs, kept):
            variable.assign(value)
