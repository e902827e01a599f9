"""The penalty that keeps shared and private outputs apart."""

import tensorflow as tf

from mtl_tf.core import replicas


def orthogonality_penalty(
    shared: tf.Tensor,
    private: tf.Tensor,
    weight: tf.Tensor | None = None,
    mean: bool = False,
) -> tf.Tensor:
    """How far shared outputs are from orthogonal to private ones, per group.

    `|| S^T H ||_F^2` for each group, where the n rows of S and H are its
    examples' shared and private outputs: L_diff of Liu et al. (2017), taken
    from Bousmalis et al. (2016), equation 5. With `mean` it is
    `|| S^T H / n ||_F^2`. Like the mean loss that it is added to, this does not
    grow with the batch. At 16 examples a given weight is then 256 times weaker
    than in the paper.

    On several replicas S^T H is that of the global batch, and every replica
    returns the same penalty.

    Args:
        shared: `[G, B, S]`.
        private: `[G, B, P]`.
        weight: `[G, B]`: 0 for padding rows, otherwise 1. None counts all rows.
        mean: whether to divide by n.

    Returns:
        `[G]`, in the dtype of `shared`; 0 for a group without rows.
    """
    if weight is None:
        weight = tf.ones(tf.shape(shared)[:2])
    weight = tf.cast(weight, shared.dtype)
    rows = tf.reduce_sum(weight, axis=1)[:, None, None]
    product = tf.matmul(shared * weight[..., None], private, transpose_a=True)
    product, rows = replicas.summed([product, rows])
    if mean:
        product = tf.math.divide_no_nan(product, rows)
    return tf.reduce_sum(tf.square(product), axis=[1, 2])
