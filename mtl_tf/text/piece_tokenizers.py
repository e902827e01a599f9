"""Tokenizers of pretrained encoders, as functions of a graph without state."""

from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import ConfigError


class GraphTokenizer:
    """A keras_hub tokenizer whose graph can be exported.

    Args:
        tokenizer: its `tokenize` has TensorFlow ops without state.
    """

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        # Resources that are made while a graph is traced would be lost to the
        # export.
        with tf.init_scope():
            tokenizer.tokenize(tf.constant(["a"]))
        # Called eagerly, it would return lists.
        self._graph = tf.function(
            tokenizer.tokenize,
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of texts.

        Args:
            texts: string [n], valid UTF-8.

        Returns:
            int32 [n, None], ids of the preset, without special ones.
        """
        return tf.cast(self._graph(texts), tf.int32)

    def of_words(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of words that stand between spaces, as `__call__`."""
        return self(words)

    @property
    def trackables(self) -> list[Any]:
        """What an export has to track: resources of the tokenizer."""
        found = vars(self._tokenizer).values()
        kinds = (tf.Module, tf.lookup.StaticHashTable)
        return [value for value in found if isinstance(value, kinds)]


def in_graph(tokenizer: Any) -> GraphTokenizer:
    """What splits texts as a keras_hub tokenizer does, in any graph.

    Raises:
        ConfigError: it is one of byte pairs, such as RoBERTa's: keras_hub
            keeps a table of the words seen so far in the graph, which no
            export can have.
    """
    import keras_nlp

    if isinstance(tokenizer, keras_nlp.tokenizers.BytePairTokenizer):
        raise ConfigError(
            f"model.encoder.preset: a {type(tokenizer).__name__} splits into "
            "byte pairs, whose graph keras_hub cannot export: take an encoder "
            "of word pieces or of SentencePiece"
        )
    return GraphTokenizer(tokenizer)
