"""Gradient reversal: layers before it maximise what layers after minimise."""

import tensorflow as tf


def reverse_gradient(x: tf.Tensor, weight: float | tf.Tensor) -> tf.Tensor:
    """Returns `x`, but multiplies its gradient by `-weight`.

    The gradient reversal layer of Ganin and Lempitsky (2015), equations 9 and
    10: `R(x) = x`, `dR/dx = -weight I`.

    Args:
        x: a float tensor.
        weight: a number or a scalar tensor; 0 stops the gradient.
    """

    @tf.custom_gradient
    def reversal(x):
        def gradient(dy):
            return -tf.cast(weight, dy.dtype) * dy

        return tf.identity(x), gradient

    return reversal(x)
