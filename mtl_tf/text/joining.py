"""Encoded texts one after the other, with a separator between them."""

from collections.abc import Mapping, Sequence

import tensorflow as tf

Parts = Mapping[str, tf.RaggedTensor]


def joined(
    texts: Sequence[Parts], separator: int, max_length: int = 0
) -> dict[str, tf.RaggedTensor]:
    """One text of several, in Python, in `tf.data` and in exports.

    Args:
        texts: what `TextEncoder.of_texts` gives of the first texts, of the
            second ones, ...; ragged [n, None] or [n, None, W].
        separator: the id that stands between two texts, among "tokens"; other
            features have 0 there.
        max_length: tokens of the whole at most, separators among them; 0 for
            any number. The longest text is cut first.

    Returns:
        Of one text itself; else the same features of all of them.
    """
    if len(texts) == 1:
        return dict(texts[0])
    lengths = [parts["tokens"].row_lengths() for parts in texts]
    counts = lengths
    if max_length:
        room = max(max_length - len(texts) + 1, 0)
        counts = cut_longest_first(lengths, room)
    return {
        name: _concatenated(
            [parts[name] for parts in texts],
            counts,
            separator if name == "tokens" else 0,
        )
        for name in texts[0]
    }


def cut_longest_first(
    lengths: Sequence[tf.Tensor], room: int
) -> list[tf.Tensor]:
    """How many tokens of each text stay.

    Texts that are cut keep equally many tokens, earlier ones maybe one more,
    and all others have at most as many.

    Args:
        lengths: int64 [n] of each text.
        room: tokens of all texts together at most.
    """
    stacked = tf.stack(lengths)
    # The largest common limit that leaves room: texts below it stay whole.
    limits = tf.range(room + 1, dtype=tf.int64)
    totals = tf.reduce_sum(
        tf.minimum(stacked[..., None], limits), axis=0
    )  # [n, limits]
    fits = tf.cast(totals <= room, tf.int64)
    limit = tf.reduce_max(fits * limits, axis=1)
    counts = [tf.minimum(length, limit) for length in lengths]
    spare = room - tf.add_n(counts)
    for place, length in enumerate(lengths):
        # There is less to spare than texts that are cut: a token each.
        more = tf.minimum(tf.minimum(spare, length - counts[place]), 1)
        counts[place] += more
        spare -= more
    return counts


def cut_rows(part: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    """The first items of each row.

    Args:
        part: [n, None, ...].
        counts: int64 [n], how many; no row is shorter.
    """
    places = tf.ragged.range(part.row_lengths()).flat_values
    stays = places < tf.repeat(counts, part.row_lengths())
    values = tf.boolean_mask(part.flat_values, stays)
    return tf.RaggedTensor.from_row_lengths(values, counts, validate=False)


def _concatenated(
    parts: Sequence[tf.RaggedTensor], counts: Sequence[tf.Tensor], between: int
) -> tf.RaggedTensor:
    rows = parts[0].nrows()
    inner = parts[0].flat_values.shape[1:].as_list()
    shape = tf.concat([[rows], tf.constant(inner, rows.dtype)], 0)
    filled = tf.cast(tf.fill(shape, between), parts[0].dtype)
    separator = tf.RaggedTensor.from_row_lengths(
        filled, tf.ones([rows], tf.int64), validate=False
    )
    pieces = []
    for part, length in zip(parts, counts):
        cut = cut_rows(part, length)
        pieces += [separator, cut] if pieces else [cut]
    return tf.concat(pieces, axis=1)
