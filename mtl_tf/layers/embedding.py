"""Word vectors."""

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class Embedding(StackedLayer):
    """Looks up the vectors of token ids.

    Its gradient is a `tf.IndexedSlices` with one slice a token; rows may
    repeat.

    Args:
        vocabulary_size: number of vectors V.
        dimension: their size D.
        trainable: whether they are trained.
        init: see `base.check_init`; glorot draws within its `range`, too,
            because a look-up has no fans.

    Input shape: int32 `[G, B, T]`, below V.
    Output shape: `[G, B, T, D]`, in the policy's compute dtype.
    Masking: `mask(tokens)` is true where the id is not 0 (padding).

    Example:
        ```python
        embedding = Embedding(30_000, 200)
        embedded, mask = embedding(tokens), embedding.mask(tokens)
        ```
    """

    def __init__(self, vocabulary_size: int, dimension: int, **kwargs):
        super().__init__(**kwargs)
        self.vocabulary_size = checks.positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.dimension = checks.positive_integer("embedding_dim", dimension)

    def build(self, input_shape=None):
        """Makes the vectors."""
        self.vectors = self.add(
            "vectors",
            self.vocabulary_size,
            self.dimension,
            limit=self.init["range"],
        )
        self.built = True

    def set_vectors(self, vectors: np.ndarray) -> None:
        """Sets the vectors, `[V, D]`, such as pretrained ones.

        Raises:
            ValueError: they have another shape.
        """
        expected = (self.vocabulary_size, self.dimension)
        if vectors.shape != expected:
            raise ValueError(
                f"vectors must have shape {expected}, got {vectors.shape}"
            )
        self.vectors.assign(vectors)

    def call(self, tokens):
        """Looks `tokens` up."""
        return self.cast(tf.gather(self.vectors.value, tokens))

    def mask(self, tokens: tf.Tensor) -> tf.Tensor:
        """Where `tokens` are not padding, bool `[G, B, T]`."""
        return tf.not_equal(tokens, 0)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "dimension": self.dimension,
        }
