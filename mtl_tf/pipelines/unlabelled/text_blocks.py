"""Blocks of text of equal length, for training in steps.

The blocks of a step are a function of the seed and the step.
"""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.random import generator
from mtl_tf.pipelines.without_autotuning import fixed


def cut(texts: list[np.ndarray], end: int, length: int) -> np.ndarray:
    """Concatenates texts and cuts them into blocks.

    Args:
        texts: int32 [words] each, ids above 0.
        end: the id that follows each text.
        length: the words of a block.

    Returns:
        int32 [blocks, length]; the last block is padded with 0.
    """
    checks.positive_integer("length", length)
    last = np.array([end], np.int32)
    parts = [part for text in texts for part in (text, last)]
    stream = np.concatenate([*parts, np.zeros([0], np.int32)])
    blocks = np.zeros([-(-len(stream) // length), length], np.int32)
    blocks.reshape(-1)[: len(stream)] = stream
    return blocks


def rows_of_step(
    count: int, step: int, batch_size: int, seed: int
) -> np.ndarray:
    """The blocks, out of `count`, of a step; each comes once an epoch.

    Returns:
        int64 [batch_size], indices of blocks.
    """
    numbers = step * batch_size + np.arange(batch_size)
    epochs, inside = np.divmod(numbers, count)
    rows = np.zeros([batch_size], np.int64)
    for epoch in np.unique(epochs):
        order = generator(seed, "epoch", int(epoch))
        in_epoch = epochs == epoch
        rows[in_epoch] = order.permutation(count)[inside[in_epoch]]
    return rows


def batches(
    start: int, stop: int, compute: Callable[[int], dict[str, np.ndarray]]
) -> tf.data.Dataset:
    """The batches of steps, one group each, with what every batch has.

    Args:
        start, stop: the first step, and the one after the last.
        compute: makes the arrays `[B, ...]` of a step, always in the same
            shapes. Among them, "counted", float32 `[B, N]`, is 1 for what is to
            be predicted. Its sum is the "normalizer", so that a step's loss is
            the mean over the predictions.
    """
    first = compute(start)

    def arrays(step: np.int64) -> list[np.ndarray]:
        entries = compute(int(step))
        return [entries[name] for name in first]

    def batch(step: tf.Tensor) -> dict[str, tf.Tensor]:
        types = [value.dtype for value in first.values()]
        values = tf.numpy_function(arrays, [step], types)
        entries = {
            name: tf.ensure_shape(value, like.shape)[None]
            for value, (name, like) in zip(values, first.items())
        }
        counted = entries["counted"]
        return entries | {
            "task": tf.zeros([1], tf.int32),
            "weight": tf.ones(tf.shape(counted)[:2]),
            "normalizer": tf.maximum(tf.reduce_sum(counted, [1, 2]), 1.0),
            "step": step,
        }

    steps = tf.data.Dataset.range(start, stop)
    batch = tf.autograph.experimental.do_not_convert(batch)
    return fixed(steps.map(batch).prefetch(4))
