"""Tokenizers of pretrained encoders in a graph without state."""

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from mtl_tf.text.tokenizers.byte_pairs import BytePairGraph


class GraphTokenizer:
    """A keras_hub tokenizer whose graph can be exported.

    Args:
        tokenizer: its `tokenize` must use TensorFlow ops without state.
    """

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        # Resources that are made while a graph is traced would be missing from
        # the export.
        with tf.init_scope():
            tokenizer.tokenize(tf.constant(["a"]))
        # Called eagerly, the tokenizer would return lists.
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
            int32 [n, None], ids of the preset, without special pieces.
        """
        return tf.cast(self._graph(texts), tf.int32)

    def _tokenized(self, texts: tf.Tensor) -> tf.RaggedTensor:
        # A function of this package, so that `programs.quiet` hides warnings
        # of retracing: each run in a process has a separate trace.
        return self._tokenizer.tokenize(texts)

    def of_words(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The pieces of words with a space on each side; see `__call__`."""
        return self(words)

    @property
    def names(self) -> list[str]:
        """The pieces in the order of their ids."""
        count = int(self._tokenizer.vocabulary_size())
        return list(map(str, map(self._tokenizer.id_to_token, range(count))))

    @property
    def trackables(self) -> list[Any]:
        """The objects that an export must track: resources of the tokenizer."""
        values = vars(self._tokenizer).values()
        types = (tf.Module, tf.lookup.StaticHashTable)
        return [value for value in values if isinstance(value, types)]


def in_graph(tokenizer: Any) -> "GraphTokenizer | BytePairGraph":
    """A graph function that splits texts as a keras_hub tokenizer does."""
    import keras_nlp

    if isinstance(tokenizer, keras_nlp.tokenizers.BytePairTokenizer):
        # This import also imports keras_hub.
        from mtl_tf.text.tokenizers.byte_pairs import BytePairGraph

        return BytePairGraph(tokenizer)
    return GraphTokenizer(tokenizer)
