"""Word vectors."""

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class Embedding(StackedLayer):
    """Looks up the vectors of token ids.

    Its gradients are `tf.IndexedSlices` with one slice per token; rows may
    repeat.

    With a `private_dimension` the tasks share only a part of the table, as in
    the MT-CNN of Liu et al. (2016), after Collobert and Weston (2008). A
    token's vector is then the concatenation of its vectors in the shared table
    and in the task's own table.

    Args:
        vocabulary_size: number of vectors V.
        dimension: size D of a vector, including the private part.
        private_dimension: how many of the D values, the last ones, come from
            the task's own table; 0 for none.
        tasks: number of tasks; only private tables depend on it.
        trainable: whether the vectors are trained.
        init: see `base.check_init`. With every init, vectors are drawn
            uniformly within its `range`, because a look-up has no fans.

    Attributes:
        shared_dimension: the size of the shared table's vectors.
        vectors: the shared table, `[V, shared_dimension]`.
        private_vectors: `[tasks * V, private_dimension]`, or None: the tables
            of all tasks, concatenated by rows. (Only a look-up along one axis
            has a sparse gradient.)

    Input shape: int32 `[G, B, T]`, below V; with private tables also the
        groups' tasks, int32 `[G]`.
    Output shape: `[G, B, T, D]`, in the policy's compute dtype.
    Masking: `mask(tokens)` is true where the id is not 0 (padding).

    Example:
        ```python
        embedding = Embedding(30_000, 200)
        embedded, mask = embedding(tokens), embedding.mask(tokens)
        ```
    """

    def __init__(
        self,
        vocabulary_size: int,
        dimension: int,
        private_dimension: int = 0,
        tasks: int = 1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = checks.positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.dimension = checks.positive_integer("embedding_dim", dimension)
        self.private_dimension = checks.not_negative_integer(
            "embedding_private_dim", private_dimension
        )
        if private_dimension >= dimension:
            raise ConfigError(
                "embedding_private_dim must be below embedding_dim "
                f"({dimension}), since some of it is shared, got "
                f"{private_dimension}"
            )
        self.shared_dimension = dimension - private_dimension
        self.tasks = checks.positive_integer("tasks", tasks)

    def build(self, input_shape=None):
        """Makes the vectors."""
        self.vectors = self.add(
            "vectors",
            self.vocabulary_size,
            self.shared_dimension,
            limit=self.init["range"],
        )
        self.private_vectors = None
        if self.private_dimension:
            self.private_vectors = self.add(
                "private_vectors",
                self.tasks * self.vocabulary_size,
                self.private_dimension,
                limit=self.init["range"],
            )
            # Stacked by task, like the stacked weights from `add`.
            mark(self.private_vectors, is_private=True)
        self.built = True

    def set_vectors(self, vectors: np.ndarray) -> None:
        """Sets the shared table, `[V, shared_dimension]`, to given vectors.

        For example to pretrained ones. Private tables keep their initial
        values.

        Raises:
            ValueError: the vectors have another shape.
        """
        expected = (self.vocabulary_size, self.shared_dimension)
        if vectors.shape != expected:
            raise ValueError(
                f"vectors must have shape {expected}, got {vectors.shape}"
            )
        self.vectors.assign(vectors)

    def call(self, tokens, task=None):
        """Looks up `tokens`, also in the tables of `task` if there are any."""
        shared = tf.gather(self.vectors.value, tokens)
        if self.private_vectors is None:
            return self.cast(shared)
        if task is None:
            raise ValueError(
                f"{self.name}: private vectors need the groups' tasks, got None"
            )
        rows = task[:, None, None] * self.vocabulary_size + tokens
        private = tf.gather(self.private_vectors.value, rows)
        return self.cast(tf.concat([shared, private], -1))

    def mask(self, tokens: tf.Tensor) -> tf.Tensor:
        """Where `tokens` are not padding, bool `[G, B, T]`."""
        return tf.not_equal(tokens, 0)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "dimension": self.dimension,
            "private_dimension": self.private_dimension,
            "tasks": self.tasks,
        }
