"""Joins encoded texts, with a separator between them."""

from collections.abc import Mapping, Sequence

import tensorflow as tf

Parts = Mapping[str, tf.RaggedTensor]


def joined(
    texts: Sequence[Parts], separator: int, max_length: int = 0
) -> dict[str, tf.RaggedTensor]:
    """Joins several texts to one, in Python, in `tf.data` and in exports.

    Args:
        texts: results of `TextEncoder.of_texts` for the first texts, for the
            second texts, ...; ragged [n, None] or [n, None, W].
        separator: the id between two texts, in "tokens". Other features have 0
            there.
        max_length: maximum number of tokens in total, including separators; 0
            for no limit. The longest text is cut first.

    Returns:
        A single text unchanged; otherwise the same features of all texts.
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
    """How many tokens of each text are kept.

    Texts that are cut keep the same number of tokens, earlier ones possibly one
    more. All other texts have at most this many.

    Args:
        lengths: int64 [n] of each text.
        room: maximum number of tokens of all texts together.
    """
    stacked = tf.stack(lengths)
    # The largest common limit that fits; texts below it stay whole.
    limits = tf.range(room + 1, dtype=tf.int64)
    totals = tf.reduce_sum(
        tf.minimum(stacked[..., None], limits), axis=0
    )  # [n, limits]
    fits = tf.cast(totals <= room, tf.int64)
    limit = tf.reduce_max(fits * limits, axis=1)
    counts = [tf.minimum(length, limit) for length in lengths]
    spare = room - tf.add_n(counts)
    for place, length in enumerate(lengths):
        # The rest is smaller than the number of cut texts: one token each.
        more = tf.minimum(tf.minimum(spare, length - counts[place]), 1)
        counts[place] += more
        spare -= more
    return counts


def cut_rows(part: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    """The first items of each row.

    Args:
        part: [n, None, ...].
        counts: int64 [n], how many items; no row is shorter.
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
