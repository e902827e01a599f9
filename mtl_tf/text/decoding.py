"""From ids that a model wrote to real text, in Python and in exports."""

from typing import Any

import tensorflow as tf

from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.escaping import surface_in_graph
from mtl_tf.text.vocabulary import OOV_TOKEN

#: What stands for a word that a vocabulary does not have.
UNKNOWN = "<unk>"


class TextDecoder:
    """Turns ids of a language into its texts.

    Args:
        encoder: of the language; its vocabulary has the specials `BOUNDS`.
        unknown: what to write for the unknown word.

    Example:

    >>> decoder = TextDecoder(encoder)
    >>> decoder(tf.constant([[5, 12, 9, 3, 0]])).numpy()
    array([b'ein gutes buch'], dtype=object)
    """

    def __init__(self, encoder: TextEncoder, unknown: str = UNKNOWN):
        self._tokenizer = encoder.tokenizer
        self._vocabulary = encoder.vocabulary
        # Made here and now; see `TextEncoder`.
        self._table = encoder.vocabulary.token_table
        self._unknown = self._tokenizer.alone(tf.constant(unknown))

    def __call__(
        self, ids: tf.Tensor, words: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns the texts of ids.

        Args:
            ids: int32 [..., U]. A text ends before its first EOS or padding;
                BOS is left out.
            words: string [..., U], what to write in place of the unknown
                word; see `aligned_words`. None writes `unknown`.

        Returns:
            string [...]: the texts, joined as the tokenizer joins them.
        """
        unknown = self._unknown
        if words is not None:
            unknown = self._tokenizer.alone(words)
        tokens = self._table.lookup(tf.cast(ids, tf.int64))
        tokens = tf.where(tf.equal(tokens, OOV_TOKEN), unknown, tokens)
        size = tf.shape(ids)[-1]
        rows = tf.ragged.boolean_mask(
            tf.reshape(tokens, [-1, size]),
            tf.reshape(self.inside(ids), [-1, size]),
        )
        return tf.reshape(self._tokenizer.detokenize(rows), tf.shape(ids)[:-1])

    def inside(self, ids: tf.Tensor) -> tf.Tensor:
        """Which ids are of the text itself: bool, of the shape of `ids`."""
        vocabulary = self._vocabulary
        ends = (ids == vocabulary.EOS) | (ids == vocabulary.PAD)
        open_ = tf.cumsum(tf.cast(ends, tf.int32), axis=-1) == 0
        return open_ & (ids != vocabulary.BOS)

    @property
    def tables(self) -> list[Any]:
        """The lookup tables that an export has to track."""
        return [self._table]


def aligned_words(source: tf.RaggedTensor, attention: tf.Tensor) -> tf.Tensor:
    """The source words that a model attended to most.

    Args:
        source: string [B, None], the written tokens of the sources.
        attention: float32 [B, n, U, T] or [B, U, T], with T at least the
            longest source.

    Returns:
        string [B, n, U] or [B, U]: for each written token the word, without
        the spaces that it carries; "" where its source has none.
    """
    width = tf.shape(attention)[-1]
    dense = source.to_tensor(shape=[None, None])[:, :width]
    known = tf.sequence_mask(source.row_lengths(), width)
    axes = attention.shape.rank - 2
    known = tf.reshape(
        known, tf.concat([tf.shape(known)[:1], [1] * axes, [width]], 0)
    )
    # Padding has no word, whatever a model makes of it.
    weights = tf.where(known, attention, -tf.ones_like(attention))
    best = tf.argmax(weights, axis=-1, output_type=tf.int32)
    dense = tf.pad(dense, [[0, 0], [0, width - tf.shape(dense)[1]]])
    return surface_in_graph(tf.gather(dense, best, batch_dims=1))
