"""Tokenizers of pretrained encoders, as functions of a graph without state."""

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from mtl_tf.text.byte_pairs import BytePairGraph


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
            self._tokenized,
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

    def _tokenized(self, texts: tf.Tensor) -> tf.RaggedTensor:
        # Of ours: each run of a process has a trace of its own, as
        # `programs.quiet` knows.
        return self._tokenizer.tokenize(texts)

    def of_words(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of words that stand between spaces, as `__call__`."""
        return self(words)

    @property
    def names(self) -> list[str]:
        """The pieces in the order of their ids."""
        count = int(self._tokenizer.vocabulary_size())
        return list(map(str, map(self._tokenizer.id_to_token, range(count))))

    @property
    def trackables(self) -> list[Any]:
        """What an export has to track: resources of the tokenizer."""
        values = vars(self._tokenizer).values()
        types = (tf.Module, tf.lookup.StaticHashTable)
        return [value for value in values if isinstance(value, types)]


def in_graph(tokenizer: Any) -> "GraphTokenizer | BytePairGraph":
    """What splits texts as a keras_hub tokenizer does, in any graph."""
    import keras_nlp

    if isinstance(tokenizer, keras_nlp.tokenizers.BytePairTokenizer):
        # keras_hub is imported with it.
        from mtl_tf.text.byte_pairs import BytePairGraph

        return BytePairGraph(tokenizer)
    return GraphTokenizer(tokenizer)
