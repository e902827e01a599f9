"""Pooling: one vector for a text from the vectors of its tokens."""

from collections.abc import Callable

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.names import look_up
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.task_dense import TaskDense


def max_over_time(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The maximum of each feature over the tokens of a text.

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

    If x are rows of a look-up table E, the sum is E^T n, where n is the vector
    of word counts.

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


OVER_TIME = {"mean": mean_over_time, "max": max_over_time}
BAGS = {"sum": sum_over_time, "mean": mean_over_time}


def bag(name: str) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """The function that makes a bag of words: "sum" or "mean".

    Raises:
        ConfigError: another name.
    """
    return look_up(name, BAGS, "bag")


@keras.saving.register_keras_serializable(package="mtl_tf")
class AttentionPooling(StackedLayer):
    """A weighted mean of the tokens' vectors, with learnt weights.

    Yang et al. (2016), "Hierarchical Attention Networks", equations 5 to 7,
    with one map and one context vector for all tasks or for each:
    `a_t = softmax over t of (v^T tanh(W x_t + b))`, and the sum of `a_t x_t`.

    Args:
        tasks: number of tasks with their own weights; 0 if all tasks share
            them.
        init: see `base.check_init`.

    Input shape: `[G, B, T, F]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: `[G, B, F]`.
    Masking: padding has no weight. A text without tokens gets zeros.

    Example:
        ```python
        summary = AttentionPooling()(sequence, mask, task)
        ```
    """

    def __init__(self, tasks: int = 0, **kwargs):
        super().__init__(**kwargs)
        self.tasks = checks.not_negative_integer("tasks", tasks)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., F]`."""
        features = input_shape[-1]
        options = {"init": self.init, "dtype": self.dtype_policy}
        # Initial values depend on the name.
        self.hidden = TaskDense(
            features, self.tasks, name=f"{self.name}_hidden", **options
        )
        self.score = TaskDense(
            1, self.tasks, False, name=f"{self.name}_score", **options
        )
        self.hidden.build(input_shape)
        self.score.build(input_shape)
        self.built = True

    def call(self, x, mask, task):
        """Pools each text."""
        hidden = tf.tanh(self.hidden(self.cast(x), task))
        score = tf.cast(self.score(hidden, task)[..., 0], tf.float32)
        score = tf.where(mask, score, score.dtype.min)
        weights = tf.where(mask, tf.nn.softmax(score, axis=2), 0.0)
        return sum_over_time(tf.cast(weights, x.dtype)[..., None] * x, mask)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"tasks": self.tasks}
