"""Word vectors computed from vectors of character n-grams."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class NgramEmbedding(StackedLayer):
    """The mean of the vectors of a word's character n-grams.

    `e(w) = 1 / |c(w)| * sum over c in c(w) of v_c`, where c(w) are the distinct
    n-grams of the word (Hashimoto et al. 2017, section 2.1); zeros if it has
    none. Words outside of every vocabulary have vectors, too.

    Its gradient is a `tf.IndexedSlices` of the n-grams that occur in the words
    of `ids` and in all own words. Each vocabulary word that occurs is computed
    once.

    Args:
        ngrams: number N of n-gram ids, including that of padding, 0.
        dimension: size D of the vectors.
        word_ngrams: the n-grams of V words, int32 `[V, K]`, each once, 0 is
            padding. As in a config, it may be only the shape, `(V, K)`, if
            weights are loaded afterwards.
        trainable: whether the vectors are trained; the words' n-grams are not.
        init: see `base.check_init`. With every init, vectors are drawn
            uniformly within its `range`.

    Attributes:
        vectors: float32 `[N, D]`; that of padding is not used.
        word_ngrams: int32 `[V, K]`, a non-trainable weight, so that it is saved
            and exported with the others.

    Input shape: `ids` int32 `[..., T]` of words. If there are ids from V on,
        also `own_ngrams` int32 `[..., O, K]`: the id V + j is the example's own
        word with the n-grams in row j.
    Output shape: `[..., T, D]`, in the policy's compute dtype.
    Masking: the id 0, and ids without a row of n-grams, have zeros.

    Example:
        ```python
        embedding = NgramEmbedding(len(ngrams), 100, ngrams.of_tokens(words))
        embedded = embedding(tokens, ngrams_of_unknown_words)
        ```
    """

    def __init__(
        self,
        ngrams: int,
        dimension: int,
        word_ngrams: np.ndarray | Sequence[int],
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.ngrams = checks.positive_integer("ngrams", ngrams)
        self.dimension = checks.positive_integer("ngram_dim", dimension)
        table = np.asarray(word_ngrams, np.int32)
        if table.shape == (2,):
            table = np.zeros(table, np.int32)
        if table.ndim != 2 or not table.size:
            raise ValueError(
                "word_ngrams must have shape (words, ngrams of a word), got "
                f"{table.shape}"
            )
        if table.min() < 0 or table.max() >= ngrams:
            raise ValueError(
                f"word_ngrams must be between 0 and {ngrams - 1}, got "
                f"{table.min()} to {table.max()}"
            )
        self.word_count, self.most = table.shape
        # Used until the weight is built.
        self._initial_ngrams = table

    def build(self, input_shape=None):
        """Makes the vectors and the table of the words' n-grams."""
        self.vectors = self.add(
            "vectors", self.ngrams, self.dimension, limit=self.init["range"]
        )
        table, self._initial_ngrams = self._initial_ngrams, None
        self.word_ngrams = self.add_weight(
            name="word_ngrams",
            shape=table.shape,
            dtype="int32",
            initializer=lambda shape, dtype=None: tf.constant(table),
            trainable=False,
            autocast=False,
        )
        mark(self.word_ngrams, is_of_vocabulary=True)
        self.built = True

    def set_vectors(self, vectors: np.ndarray) -> None:
        """Sets the vectors to given ones, `[N, D]`, such as pretrained ones.

        Raises:
            ValueError: the vectors have another shape.
        """
        expected = (self.ngrams, self.dimension)
        if vectors.shape != expected:
            raise ValueError(
                f"vectors must have shape {expected}, got {vectors.shape}"
            )
        self.vectors.assign(vectors)

    def call(self, ids, own_ngrams=None):
        """Looks up words; the same as `look_up(ids, means(own_ngrams))`."""
        own_vectors = None if own_ngrams is None else self.means(own_ngrams)
        return self.look_up(ids, own_vectors)

    def means(self, ngrams: tf.Tensor) -> tf.Tensor:
        """The vectors of words that are given by their n-grams.

        Args:
            ngrams: int32 `[..., K]`, 0 is padding.

        Returns:
            float32 `[..., D]`.
        """
        shape = tf.shape(ngrams)
        rows = tf.reduce_prod(shape[:-1])
        table = tf.reshape(ngrams, tf.stack([rows, shape[-1]]))
        places = tf.where(tf.not_equal(table, 0))
        # Most slots are padding, and words share n-grams. Gathering all slots
        # would need K vectors per word.
        distinct, number = tf.unique(tf.gather_nd(table, places))
        vectors = tf.gather(self.vectors.value, distinct)
        means = tf.sparse.segment_mean(
            vectors, number, places[:, 0], num_segments=rows
        )
        means = tf.reshape(means, tf.concat([shape[:-1], [self.dimension]], 0))
        return tf.ensure_shape(means, [*ngrams.shape[:-1], self.dimension])

    def look_up(self, ids: tf.Tensor, own_vectors: tf.Tensor | None = None):
        """The vectors of words, given those of the examples' own words.

        Several texts of an example, or the steps of a decoder, have the same
        own words. Compute their `means` once.

        Args:
            ids: int32 `[..., T]`.
            own_vectors: float32 `[..., O, D]`, the `means` of `own_ngrams`.

        Returns:
            `[..., T, D]`, in the policy's compute dtype.

        Raises:
            ValueError: `own_vectors` has another rank.
        """
        shape = tf.shape(ids)
        flat = tf.reshape(ids, [-1])
        is_known = flat < self.word_count
        distinct, number = tf.unique(tf.where(is_known, flat, 0))
        ngrams = tf.gather(self.word_ngrams.value, distinct)
        ngrams = tf.where(tf.equal(distinct, 0)[:, None], 0, ngrams)
        vectors = self.means(ngrams)
        if own_vectors is not None:
            if own_vectors.shape.rank != ids.shape.rank + 1:
                raise ValueError(
                    f"{self.name}: own words must have one axis more than "
                    f"ids {ids.shape}, got {own_vectors.shape}"
                )
            number = self._with_own(shape, flat, distinct, number, own_vectors)
            own_vectors = tf.reshape(own_vectors, [-1, self.dimension])
            vectors = tf.concat([vectors, own_vectors], 0)
        looked_up = tf.reshape(
            tf.gather(vectors, number),
            tf.concat([shape, [self.dimension]], 0),
        )
        looked_up = tf.ensure_shape(looked_up, [*ids.shape, self.dimension])
        return self.cast(looked_up)

    def _with_own(self, shape, flat, distinct, number, own_vectors):
        """Rows of the vocabulary's vectors, then those of all own words."""
        count = tf.shape(own_vectors)[-2]
        examples = tf.range(tf.reduce_prod(shape[:-1]))
        example = tf.repeat(examples, shape[-1])
        own_number = flat - self.word_count
        # Higher numbers would be rows of the next example.
        is_own = (own_number >= 0) & (own_number < count)
        row = tf.size(distinct) + example * count + own_number
        return tf.where(is_own, row, number)

    def get_config(self) -> dict:
        """The constructor's arguments; of `word_ngrams` only the shape."""
        return super().get_config() | {
            "ngrams": self.ngrams,
            "dimension": self.dimension,
            "word_ngrams": [self.word_count, self.most],
        }
