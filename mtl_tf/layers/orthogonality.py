"""The penalty that keeps shared and private outputs apart."""

import tensorflow as tf


def orthogonality_penalty(
    shared: tf.Tensor, private: tf.Tensor, weight: tf.Tensor | None = None
) -> tf.Tensor:
    """How far shared outputs are from orthogonal to private ones, by group.

    `|| S^T H / n ||_F^2` for each group, where the n rows of S and H are its
    examples' shared and private outputs: L_diff of Liu et al. (2017), taken
    from Bousmalis et al. (2016), equation 5. They leave out the division by
    n; with it the penalty does not grow with the batch, as the mean loss that
    it is added to does not.

    Args:
        shared: `[G, B, S]`.
        private: `[G, B, P]`.
        weight: `[G, B]`: 0 for rows that are filler, else 1. None counts all.

    Returns:
        `[G]`, in the dtype of `shared`; 0 for a group without rows.
    """
    if weight is None:
        weight = tf.ones(tf.shape(shared)[:2])
    weight = tf.cast(weight, shared.dtype)
    rows = tf.reduce_sum(weight, axis=1)[:, None, None]
    product = tf.matmul(shared * weight[..., None], private, transpose_a=True)
    product = tf.math.divide_no_nan(product, rows)
    return tf.reduce_sum(tf.square(product), axis=[1, 2])
