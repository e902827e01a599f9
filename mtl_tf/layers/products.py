"""Matrix products with shared or stacked weights."""

import tensorflow as tf


def product(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
    """Multiplies the last axis of `x` by a shared or stacked weight.

    Args:
        x: `[*batch, ..., K]`.
        weight: `[*batch, K, N]`, with any number of leading batch axes, equal
            to the leading axes of `x`. The axes of `x` between these and the
            last one are flattened for the product.

    Returns:
        `[*batch, ..., N]`, in the dtype of `weight`.
    """
    batch = weight.shape.rank - 2
    x = tf.cast(x, weight.dtype)
    shape = tf.shape(x)
    if batch and all(size == 1 for size in weight.shape[:batch]):
        weight = tf.reshape(weight, tf.shape(weight)[batch:])
        batch = 0
    if x.shape.rank == batch + 2:
        return tf.matmul(x, weight)
    flat = tf.reshape(x, tf.concat([shape[:batch], [-1, shape[-1]]], 0))
    y = tf.matmul(flat, weight)
    static = x.shape[:-1] + y.shape[-1:]
    if static.is_fully_defined():
        return tf.reshape(y, static)
    y = tf.reshape(y, tf.concat([shape[:-1], tf.shape(y)[-1:]], 0))
    return tf.ensure_shape(y, static)


def outer_product(x: tf.Tensor, y: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
    """The gradient of a weight from all steps' inputs and cotangents.

    Args:
        x: `[T, *batch, ..., K]`, the inputs of `product` at every step.
        y: `[T, *batch, ..., N]`, the cotangents of its outputs.
        weight: `[*batch, K, N]`.

    Returns:
        `[*batch, K, N]`: one large matrix product over time and batch.
    """
    batch = weight.shape.rank - 2
    if all(size == 1 for size in weight.shape[:batch]):
        x = tf.reshape(x, [-1, weight.shape[-2]])
        y = tf.reshape(y, [-1, weight.shape[-1]])
        gradient = tf.matmul(x, y, transpose_a=True)
        return tf.reshape(gradient, tf.shape(weight))
    stack = "abcdef"[:batch]
    rows = "uvwxyz"[: x.shape.rank - batch - 2]
    return tf.einsum(f"t{stack}{rows}k,t{stack}{rows}n->{stack}kn", x, y)
