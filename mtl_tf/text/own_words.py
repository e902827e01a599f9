"""Words that an example has for itself: those that no vocabulary knows.

A model that copies words has to tell them apart, although it knows nothing
else of them.
"""

from collections.abc import Sequence

import tensorflow as tf


def number_own_words(
    tokens: Sequence[tf.RaggedTensor],
    ids: Sequence[tf.RaggedTensor],
    unknown: int,
    first: int,
) -> tuple[list[tf.RaggedTensor], tf.RaggedTensor]:
    """Gives the unknown words of each example ids of their own.

    Equal words of an example have equal ids, whichever of its texts they
    stand in; they are numbered in the order of the texts. Ids mean nothing in
    another example. Made of TensorFlow ops, for `tf.data` and for exports.

    Args:
        tokens: of one text of each example, of another one, ...: string
            [n, None] each.
        ids: of the same tokens, int32 [n, None].
        unknown: the id of unknown words.
        first: the id of an example's first own word, above all others.

    Returns:
        The ids with `first`, `first + 1`, ... in place of `unknown`, and
        these words of each example in the order of their ids, string
        [n, None].
    """
    widths = [text_ids.row_lengths() for text_ids in ids]
    words, numbers = tf.concat(tokens, 1), tf.concat(ids, 1)
    is_own = tf.equal(numbers.flat_values, unknown)
    rows = tf.boolean_mask(numbers.value_rowids(), is_own)
    unknown_words = tf.boolean_mask(words.flat_values, is_own)
    # The row first: it holds no line feed, so that no two pairs look alike.
    keys = tf.strings.join([tf.strings.as_string(rows), unknown_words], "\n")
    distinct, number = tf.unique(keys)
    # Rows follow each other, so those of a row are numbered one after another.
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
    """Cuts rows into parts of so many values each, `[n]` a part."""
    starts, rows = joined.row_starts(), []
    for width in widths:
        positions = tf.ragged.range(starts, starts + width)
        rows.append(tf.gather(joined.flat_values, positions))
        starts += width
    return rows
