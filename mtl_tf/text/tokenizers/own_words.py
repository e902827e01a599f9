"""Ids for the own words of an example, which the vocabulary lacks.

A model that copies words must tell them apart, even if it knows nothing else
about them.
"""

from collections.abc import Sequence

import tensorflow as tf


def number_own_words(
    tokens: Sequence[tf.RaggedTensor],
    ids: Sequence[tf.RaggedTensor],
    unknown: int,
    first: int,
) -> tuple[list[tf.RaggedTensor], tf.RaggedTensor]:
    """Gives the unknown words of each example their own ids.

    Equal words of an example get equal ids, whichever of its texts they are in.
    They are numbered in the order of the texts. Ids have no meaning in other
    examples. Made of TensorFlow ops, for `tf.data` and for exports.

    Args:
        tokens: the tokens of each example's first text, of its second text,
            ...: string [n, None] each.
        ids: the ids of the same tokens, int32 [n, None].
        unknown: the id of unknown words.
        first: the id of an example's first own word, above all others.

    Returns:
        The ids with `first`, `first + 1`, ... instead of `unknown`, and each
        example's own words in the order of their ids, string [n, None].
    """
    widths = [text_ids.row_lengths() for text_ids in ids]
    words, numbers = tf.concat(tokens, 1), tf.concat(ids, 1)
    is_own = tf.equal(numbers.flat_values, unknown)
    rows = tf.boolean_mask(numbers.value_rowids(), is_own)
    unknown_words = tf.boolean_mask(words.flat_values, is_own)
    # The row comes first. It has no line feed, so keys are unambiguous.
    keys = tf.strings.join([tf.strings.as_string(rows), unknown_words], "\n")
    distinct, number = tf.unique(keys)
    # Rows are consecutive, so the words of a row have consecutive numbers.
    count = tf.size(distinct)
    of_row = tf.math.unsorted_segment_min(number, rows, numbers.nrows())
    own_ids = first + number - tf.gather(of_row, rows)
    positions = tf.where(is_own)
    flat = tf.tensor_scatter_nd_update(numbers.flat_values, positions, own_ids)
    place_of = tf.math.unsorted_segment_min(
        tf.range(tf.size(number)), number, count
    )
    own_words = tf.RaggedTensor.from_value_rowids(
        tf.gather(unknown_words, place_of),
        tf.gather(rows, place_of),
        nrows=numbers.nrows(),
        validate=False,
    )
    return _cut(numbers.with_flat_values(flat), widths), own_words


def _cut(
    joined: tf.RaggedTensor, widths: Sequence[tf.Tensor]
) -> list[tf.RaggedTensor]:
    """Cuts rows into parts; each part's widths are `[n]`."""
    starts, rows = joined.row_starts(), []
    for width in widths:
        positions = tf.ragged.range(starts, starts + width)
        rows.append(tf.gather(joined.flat_values, positions))
        starts += width
    return rows
