"""Gradients of tables, of which a step names some rows, some repeatedly."""

import tensorflow as tf


def sum_repeats(slices: tf.IndexedSlices) -> tf.IndexedSlices:
    """The same gradient with every row named once.

    Args:
        slices: values [n, ...] for rows [n], rows in any order, repeated.

    Returns:
        Values [k, ...] for the k different rows.
    """
    rows, positions = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(
        slices.values, positions, tf.size(rows)
    )
    return tf.IndexedSlices(values, rows, slices.dense_shape)


def whole_slices(slices: tf.IndexedSlices, size: int) -> tf.IndexedSlices:
    """The same gradient with all rows of every slice that it names.

    Args:
        slices: values [k, ...] for k different rows.
        size: rows of a slice, which lie one below the other.

    Returns:
        Values [s * size, ...] for the s slices with a named row; they are 0
        where there were none.
    """
    if size == 1:
        return slices
    owners, places = tf.unique(slices.indices // size)
    count = tf.size(owners, owners.dtype)
    rows = owners[:, None] * size + tf.range(size, dtype=owners.dtype)
    places = tf.cast(places, owners.dtype) * size + slices.indices % size
    values = tf.math.unsorted_segment_sum(slices.values, places, count * size)
    return tf.IndexedSlices(values, tf.reshape(rows, [-1]), slices.dense_shape)


def clip_by_global_norm(gradients: list, norm: float) -> list:
    """Scales gradients without repeated rows together to at most `norm`."""
    total = tf.linalg.global_norm(gradients)
    scale = norm / tf.maximum(total, norm)
    return [
        tf.IndexedSlices(g.values * scale, g.indices, g.dense_shape)
        if isinstance(g, tf.IndexedSlices)
        else g * scale
        for g in gradients
    ]
