"""One vector for a text from the vectors of its tokens."""

from collections.abc import Callable

import tensorflow as tf

from mtl_tf.core.names import look_up


def max_over_time(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The greatest value of each feature over the tokens of a text.

    The Max layer of Collobert and Weston (2008).

    Args:
        x: `[G, B, T, F]`.
        mask: bool `[G, B, T]`, True where there is a token.

    Returns:
        `[G, B, F]`; 0 for a text without tokens, with no gradient.
    """
    greatest = tf.reduce_max(tf.where(mask[..., None], x, x.dtype.min), axis=2)
    has_tokens = tf.reduce_any(mask, axis=2)[..., None]
    return tf.where(has_tokens, greatest, 0)


def sum_over_time(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The sum of the tokens' vectors: a bag of words.

    With x the rows of a look-up table E, it is E^T n for the vector n of the
    words' counts.

    Args:
        x: `[G, B, T, D]`.
        mask: bool `[G, B, T]`, True where there is a token.

    Returns:
        `[G, B, D]`; 0 for a text without tokens.
    """
    return tf.reduce_sum(tf.where(mask[..., None], x, 0), axis=2)


def mean_over_time(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The mean of the tokens' vectors; arguments as for `sum_over_time`."""
    count = tf.reduce_sum(tf.cast(mask, x.dtype), axis=2)[..., None]
    return sum_over_time(x, mask) / tf.maximum(count, 1)


BAGS = {"sum": sum_over_time, "mean": mean_over_time}


def bag(name: str) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """The function that makes a bag of words: "sum" or "mean".

    Raises:
        ConfigError: another name.
    """
    return look_up(name, BAGS, "bag")
