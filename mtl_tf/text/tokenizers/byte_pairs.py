"""Byte pairs of pretrained encoders in a graph without state."""

from typing import Any

import tensorflow as tf
from keras_hub.src.tokenizers import byte_pair_tokenizer

_UNKNOWN = "<unk>"


class BytePairGraph:
    """Splits texts into byte pairs (Sennrich et al. 2016) as keras_hub does.

    keras_hub's graph contains a mutable table of the words seen so far, which
    cannot be exported. Here each different word of a call is merged once
    instead. Splitting texts into words and merging words use keras_hub's
    functions (`split_strings_for_bpe`, `_bpe_merge_tf`). They are not public,
    but nothing public does this without the table.

    Args:
        tokenizer: a `keras_nlp.tokenizers.BytePairTokenizer`.
    """

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._specials = list(tokenizer.unsplittable_tokens or ())
        self._ids = [int(tokenizer.vocabulary[t]) for t in self._specials]
        unknown = tokenizer.vocabulary.get(_UNKNOWN)
        # For bytes that the vocabulary lacks; a full encoder's has all.
        self._unknown = int(
            tokenizer.mask_token_id if unknown is None else unknown
        )
        self._graph = tf.function(
            self._pieces,
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of texts.

        Args:
            texts: string [n], valid UTF-8.

        Returns:
            int32 [n, None], ids of the preset. No special pieces are added, but
            those that are spelled out in a text are recognised, as in
            keras_hub.
        """
        return self._graph(texts)

    def of_words(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of words with a space on each side; see `__call__`."""
        if self._tokenizer.add_prefix_space:
            return self(words)
        # A piece that begins a word includes the space before it. An empty word
        # would give a separate piece for the space.
        spaced = tf.strings.join([" ", words])
        return self(tf.where(tf.equal(words, ""), words, spaced))

    @property
    def names(self) -> list[str]:
        """The pieces in the order of their ids."""
        by_id = {int(n): p for p, n in self._tokenizer.vocabulary.items()}
        return [by_id.get(n, "") for n in range(max(by_id) + 1)]

    @property
    def trackables(self) -> list[Any]:
        """The objects that an export must track: tables of the tokenizer."""
        tokenizer = self._tokenizer
        return [
            tokenizer.byte2unicode,
            tokenizer.merge_ranks,
            tokenizer.token_to_id_map,
        ]

    def _pieces(self, texts: tf.Tensor) -> tf.RaggedTensor:
        if self._tokenizer.add_prefix_space:
            texts = tf.strings.join([" ", texts])
        words = byte_pair_tokenizer.split_strings_for_bpe(
            texts, self._specials or None
        )
        different, places = tf.unique(words.values)
        pieces = tf.gather(self._merged(different), places)
        nested = words.with_values(pieces)
        return tf.cast(nested.merge_dims(1, 2), tf.int32)

    def _merged(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of words int32 [n, None]; each word occurs once."""
        special = tf.zeros(tf.shape(words), tf.int32)
        for piece, number in zip(self._specials, self._ids):
            special += tf.where(tf.equal(words, piece), number + 1, 0)
        written = tf.where(special > 0, "", words)
        letters = self._tokenizer.byte2unicode.lookup(
            tf.strings.bytes_split(written)
        )
        merged = self._tokenizer._bpe_merge_tf(letters)
        ids = self._tokenizer.token_to_id_map.lookup(merged)
        ids = tf.cast(tf.where(ids < 0, self._unknown, ids), tf.int32)
        # At most one special piece per row, only where there is no other piece.
        filler = tf.RaggedTensor.from_row_lengths(
            tf.boolean_mask(special, special > 0) - 1,
            tf.cast(special > 0, tf.int64),
            validate=False,
        )
        return tf.concat([ids, filler], axis=1)
