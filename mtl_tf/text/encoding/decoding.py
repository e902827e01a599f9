"""From ids that a model generated to text, in Python and in exports."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.escaping import surface_in_graph
from mtl_tf.text.vocabulary import OOV_TOKEN

#: Text for a word that is not in the vocabulary.
UNKNOWN = "<unk>"
_AT_ONCE = 1024


class TextDecoder:
    """Turns ids of a language into texts.

    Args:
        encoder: encoder of the language; its vocabulary has the specials
            `BOUNDS`.
        unknown: text for the unknown word.

    Example:

    >>> decoder = TextDecoder(encoder)
    >>> decoder(tf.constant([[5, 12, 9, 3, 0]])).numpy()
    array([b'ein gutes buch'], dtype=object)
    """

    def __init__(self, encoder: TextEncoder, unknown: str = UNKNOWN):
        self._tokenizer = encoder.tokenizer
        self._vocabulary = encoder.vocabulary
        # Made at once, not while tracing; see `TextEncoder`.
        self._table = encoder.vocabulary.token_table
        self._unknown = self._tokenizer.alone(tf.constant(unknown))

    def __call__(
        self, ids: tf.Tensor, words: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Returns the texts of ids.

        Args:
            ids: int32 [..., U]. A text ends before its first EOS or padding.
                BOS is left out.
            words: string [..., U], replacements for the unknown word; see
                `aligned_words`. None writes `unknown`.

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

    def words(self, ids: tf.Tensor) -> tf.Tensor:
        """The tokens of ids, including `UNKNOWN`, in the shape of `ids`."""
        tokens = self._table.lookup(tf.cast(ids, tf.int64))
        return tf.where(tf.equal(tokens, OOV_TOKEN), UNKNOWN, tokens)

    def inside(self, ids: tf.Tensor) -> tf.Tensor:
        """Which ids belong to the text itself: bool, in the shape of `ids`."""
        vocabulary = self._vocabulary
        ends = (ids == vocabulary.EOS) | (ids == vocabulary.PAD)
        open_ = tf.cumsum(tf.cast(ends, tf.int32), axis=-1) == 0
        return open_ & (ids != vocabulary.BOS)

    @property
    def tables(self) -> list[Any]:
        """The lookup tables that an export must track."""
        return [self._table]


def aligned_words(source: tf.Tensor, aligned: tf.Tensor) -> tf.Tensor:
    """The source words that a model attended to most.

    Args:
        source: string [B, T], the written tokens of the sources, padded with
            ""; T may be 0.
        aligned: int32 [B, n, U], for each generated token the position of the
            source token with the highest attention.

    Returns:
        string [B, n, U]: for each generated token the word, without carried
        spaces; "" if its source has none.
    """
    # Models give a source without tokens one position.
    source = tf.pad(source, [[0, 0], [0, 1]], constant_values="")
    return surface_in_graph(tf.gather(source, aligned, batch_dims=1))


def distinct(
    texts: tf.Tensor, scores: tf.Tensor, missing: float
) -> tuple[tf.Tensor, tf.Tensor]:
    """Keeps the first of equal texts; different ids may give the same text.

    Args:
        texts: string [B, n], best first in each row.
        scores: float32 [B, n].
        missing: the score of positions that become empty.

    Returns:
        Texts and scores: different texts first, then "" and `missing`.
    """
    places = tf.range(tf.shape(texts)[1])
    is_before = places < places[:, None]
    equal = tf.equal(texts[:, None], texts[..., None])
    repeats = tf.reduce_any(equal & is_before, -1)
    order = tf.argsort(tf.cast(repeats, tf.int32), stable=True)
    texts, scores = (
        tf.gather(tf.where(repeats, otherwise, values), order, batch_dims=1)
        for values, otherwise in ((texts, ""), (scores, missing))
    )
    return texts, scores


def restricted(
    encoder: TextEncoder, texts: Sequence[str], unknown: str
) -> list[str]:
    """Texts with words outside the vocabulary replaced.

    Dong et al. (2015) score against such references.

    Args:
        encoder: encoder of their language, with the specials `BOUNDS`.
        texts: the texts.
        unknown: replacement for the other words.
    """
    decoder = TextDecoder(encoder, unknown)
    replaced: list[str] = []
    for start in range(0, len(texts), _AT_ONCE):
        chunk = [
            text.encode("utf-8", "replace")
            for text in texts[start : start + _AT_ONCE]
        ]
        decoded = decoder(encoder(tf.constant(chunk)).to_tensor())
        replaced += [text.decode("utf-8") for text in decoded.numpy().tolist()]
    return replaced
