"""Additive attention: alignment by a perceptron, inside a recurrence."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.products import product
from mtl_tf.layers.recurrent.steps import Operations, Tensors

_BLOCKED = 1e9


def attend(ops: Operations, query: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Attends to the annotations once, within a step of a recurrence.

    Equations 4 to 7 of Dong et al. (2015): `c = sum_j a_j h_j`,
    `a = softmax(e)`, `e_j = v . tanh(W s + U h_j)`.

    The hyperbolic tangents `[G, B, S, A]` of a step are recomputed in the
    backward pass. Stored for all steps, they would be a decoder's largest
    tensor. The gradient of the annotations is one product after the loop.

    Args:
        ops: the step's operations. Its constants are those that
            `AdditiveAttention` makes.
        query: W s, `[G, B, A]`.

    Returns:
        The context c `[G, B, D]` and the weights a `[G, B, S]`.
    """
    real = tf.stop_gradient(ops.constants["real"])
    hidden = tf.tanh(query[..., None, :] + ops.constants["keys"])
    scores = _scores(hidden, ops.constants["score"])
    # Padding gets no weight, even if there is nothing else.
    weights = ops.softmax(scores + (real - 1.0) * _BLOCKED) * real
    return ops.matmul(weights, "annotations"), weights


def _scores(hidden, score):
    """`v . hidden` for v `[G, B, A]`, or `[1, 1, A]` for all rows."""
    if all(size == 1 for size in score.shape[:2]):
        return product(hidden, tf.reshape(score, [-1, 1]))[..., 0]
    return tf.reduce_sum(hidden * score[..., None, :], -1)


@keras.saving.register_keras_serializable(package="mtl_tf")
class AdditiveAttention(StackedLayer):
    """Computes the constants that the steps of `attend` read.

    Equations 6 and 7 of Dong et al. (2015), after Bahdanau et al. (2014). The
    products U h_j do not depend on the state, so they are computed once.

    Args:
        units: size A of the hidden layer.
        state_units: size of the decoder states.
        bias: add a bias to W s + U h_j; the paper prints none.
        init: see `base.check_init`.

    Attributes:
        query: W `[state_units, A]`, by which the step multiplies its state.

    Input shape: annotations `[G, B, S, D]` and a mask bool `[G, B, S]`.
    Output shape: "annotations" `[G, B, S, D]`, "keys" `[G, B, S, A]`, "score"
        `[G, B, A]` (v for every row) and "real" `[G, B, S]`.
    Masking: positions where the mask is false get no weight.

    Example:
        ```python
        constants = AdditiveAttention(256, 256)(annotations, mask)
        ```
    """

    def __init__(
        self, units: int, state_units: int, bias: bool = True, **kwargs
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("attention_units", units)
        self.state_units = checks.positive_integer("state_units", state_units)
        self.use_bias = checks.boolean("bias", bias)

    def build(self, input_shape, *_):
        """Makes the weights for annotations `[..., D]`."""
        self.query = self.add("query", self.state_units, self.units)
        self.kernel = self.add("kernel", input_shape[-1], self.units)
        # A matrix, because the limits of its initial values depend on that.
        self.score = self.add("score", self.units, 1)
        if self.use_bias:
            self.bias = self.add("bias", self.units)
        self.built = True

    def call(self, annotations, mask) -> Tensors:
        """Makes the constants of `attend`."""
        keys = product(annotations, self.cast(self.kernel.value))
        keys = tf.cast(keys, tf.float32)
        if self.use_bias:
            keys += self.bias.value
        score = tf.reshape(self.score.value, [1, 1, -1])
        rows = tf.concat([tf.shape(keys)[:2], [self.units]], 0)
        score = tf.broadcast_to(score, rows)
        return {
            "annotations": annotations,
            "keys": keys,
            "score": tf.ensure_shape(score, [*keys.shape[:2], self.units]),
            "real": tf.cast(mask, tf.float32),
        }

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "state_units": self.state_units,
            "bias": self.use_bias,
        }
