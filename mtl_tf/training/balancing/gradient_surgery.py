"""PCGrad: projects conflicting task gradients off each other.

Yu et al. 2020, "Gradient Surgery for Multi-Task Learning", Algorithm 1. For
every task i, and the other tasks j in random order: where g_i . g_j < 0, g_i
loses its part along the *original* g_j. The sum of the results is applied.

Each projected gradient is a linear combination of the original ones. All
coefficients follow from their inner products, a [G, G] matrix. No gradient is
copied, and the gradients of word vectors stay sparse.
"""

import tensorflow as tf

SURGERIES = ("none", "pcgrad")


def projection_order(groups: int, seed: tf.Tensor) -> tf.Tensor:
    """The order in which each group is projected against the others.

    Args:
        groups: G.
        seed: int32 [2]. The order depends on it alone.

    Returns:
        int32 [G, G]: a permutation of all groups in every row.
    """
    # Philox explicitly: the default generator depends on the device.
    draw = tf.random.stateless_uniform([groups, groups], seed, alg="philox")
    return tf.argsort(draw, axis=1)


def pcgrad_weights(products: tf.Tensor, order: tf.Tensor) -> tf.Tensor:
    """The coefficient of each original gradient in the projected sum.

    Args:
        products: float32 [G, G], the inner products g_i . g_j.
        order: see `projection_order`.

    Returns:
        float32 [G]: w with sum_i PC(g_i) = sum_j w_j g_j.
    """
    groups = tf.shape(products)[0]
    norms = tf.linalg.diag_part(products)

    def project(place: tf.Tensor, parts: tf.Tensor) -> tuple:
        other = order[:, place]
        along = tf.reduce_sum(parts * tf.gather(products, other), axis=1)
        length = tf.gather(norms, other)
        conflict = (along < 0.0) & (length > 0.0)
        conflict &= tf.not_equal(other, tf.range(groups))
        share = tf.where(conflict, along, 0.0)
        share /= tf.where(length > 0.0, length, 1.0)
        row = tf.one_hot(other, groups, dtype=parts.dtype)
        return place + 1, parts - share[:, None] * row

    # Row i: coefficients of the original gradients in the projected g_i.
    _, parts = tf.while_loop(
        lambda place, _: place < groups,
        project,
        (0, tf.eye(groups, dtype=products.dtype)),
        shape_invariants=(tf.TensorShape([]), products.shape),
    )
    return tf.reduce_sum(parts, axis=0)
