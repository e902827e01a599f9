"""The largest entries of long rows."""

import math

import tensorflow as tf

# Shorter rows are not worth the second stage.
_LONG = 2048


def top_k(x: tf.Tensor, k: int) -> tuple[tf.Tensor, tf.Tensor]:
    """`tf.math.top_k` in two stages, which is faster for few of many entries.

    A row is divided into blocks. Its k largest entries are in the k blocks with
    the largest maxima, and only these are searched.

    Args:
        x: float `[N, V]`.
        k: a positive number, at most V.

    Returns:
        The k largest entries of each row, largest first, and their indices
        int32, both `[N, k]`. Among equal entries the lower index comes first.
    """
    size = x.shape[-1]
    if size is None or size < max(_LONG, 16 * k):
        return tuple(tf.math.top_k(x, k))
    width = _width(size, k)
    count = -(-size // width)
    # Padding makes a copy, unless there is none.
    padding = [[0, 0], [0, count * width - size]]
    x = tf.pad(x, padding, constant_values=float("-inf"))
    blocks = tf.reshape(x, [-1, count, width])
    _, best = tf.math.top_k(tf.reduce_max(blocks, -1), k)
    # In their order, so that the lower of two equal entries stays the first.
    best = tf.sort(best)
    searched = tf.gather(blocks, best, batch_dims=1)
    values, at = tf.math.top_k(tf.reshape(searched, [-1, k * width]), k)
    block = tf.gather(best, at // width, batch_dims=1)
    return values, block * width + at % width


def _width(size: int, k: int) -> int:
    """A width of blocks for which both stages see about as many entries."""
    ideal = math.isqrt(size // k)
    for width in range(2 * ideal, ideal // 2, -1):
        if size % width == 0:
            return width
    return ideal
