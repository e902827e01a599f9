"""Sparse gradients of tables, in which rows may be repeated."""

from collections.abc import Sequence

import tensorflow as tf


def sum_repeats(slices: tf.IndexedSlices) -> tf.IndexedSlices:
    """The same gradient, with each row named once.

    Args:
        slices: values [n, ...] for rows [n]. Rows may be in any order and
            repeated.

    Returns:
        Values [k, ...] for the k different rows.
    """
    rows, positions = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(
        slices.values, positions, tf.size(rows)
    )
    return tf.IndexedSlices(values, rows, slices.dense_shape)


def whole_slices(slices: tf.IndexedSlices, size: int) -> tf.IndexedSlices:
    """The same gradient, extended to all rows of each slice it touches.

    Args:
        slices: values [k, ...] for k different rows.
        size: rows per slice; a slice's rows are consecutive.

    Returns:
        Values [s * size, ...] for the s touched slices; 0 for rows that were
        not in the input.
    """
    if size == 1:
        return slices
    owners, places = tf.unique(slices.indices // size)
    count = tf.size(owners, owners.dtype)
    rows = owners[:, None] * size + tf.range(size, dtype=owners.dtype)
    places = tf.cast(places, owners.dtype) * size + slices.indices % size
    values = tf.math.unsorted_segment_sum(slices.values, places, count * size)
    return tf.IndexedSlices(values, tf.reshape(rows, [-1]), slices.dense_shape)


def named_parts(
    slices: tf.IndexedSlices, shape: Sequence[int], parts: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """The dense gradient, and which parts it is of.

    Args:
        slices: values [k, ...] for k different rows.
        shape: of all rows.
        parts: the number of equal parts that the rows are divided into.

    Returns:
        The gradient of all rows, and bool [parts]: whether rows of the part
        are named.
    """
    gradient = tf.scatter_nd(slices.indices[:, None], slices.values, shape)
    owners = slices.indices // (shape[0] // parts)
    counts = tf.math.unsorted_segment_sum(
        tf.ones_like(owners, tf.int32), owners, parts
    )
    return gradient, counts > 0


def clip_by_global_norm(gradients: list, norm: float) -> list:
    """Scales gradients without repeated rows to a total norm <= `norm`."""
    total = tf.linalg.global_norm(gradients)
    scale = norm / tf.maximum(total, norm)
    return [
        tf.IndexedSlices(g.values * scale, g.indices, g.dense_shape)
        if isinstance(g, tf.IndexedSlices)
        else g * scale
        for g in gradients
    ]
