"""Word features from characters: by convolutions or by an LSTM."""

import math

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.convolution import ConvolutionBank
from mtl_tf.layers.recurrent.lstm import LSTM


class CharacterFeatures(StackedLayer):
    """Base class: looks up character vectors, which subclasses combine.

    Args:
        dimension: size D of a character's vector.
        size: number S of vectors. Vector 0, for padding, is not used. Larger
            ids share the vectors of smaller ones, id 1 + (id - 1) % (S - 1), so
            that ids may be code points.
        init: see `base.check_init`; vectors are drawn within sqrt(3 / D).

    Input shape: int32 `[G, B, T, W]`, 0 is padding.
    Output shape: `[G, B, T, units]`, in the policy's compute dtype.
    Masking: padding characters change nothing. A word without characters has
        zeros.

    Attributes:
        units: the size of the output.
    """

    units: int

    def __init__(self, dimension: int = 30, size: int = 512, **kwargs):
        super().__init__(**kwargs)
        self.dimension = checks.positive_integer(
            "characters.dimension", dimension
        )
        self.size = checks.positive_integer("characters.size", size)
        # Ids start at 1.
        checks.positive_integer("characters.size less one", size - 1)

    def build(self, input_shape=None):
        """Makes the vectors."""
        limit = math.sqrt(3.0 / self.dimension)
        self.vectors = self.add(
            "vectors", self.size, self.dimension, limit=limit
        )
        self.built = True

    def call(self, characters, training: bool = False):
        """Computes the features of all words."""
        characters = _at_least_one(characters)
        shape = tf.shape(characters)
        mask = tf.not_equal(characters, 0)
        ids = tf.where(mask, 1 + (characters - 1) % (self.size - 1), 0)
        # After the reshape the gradient is dense. Far more characters are
        # looked up than there are vectors.
        vectors = tf.reshape(self.vectors.value, [self.size, self.dimension])
        embedded = self.cast(tf.gather(vectors, ids))
        # All words become the rows of one group.
        rows = tf.reduce_prod(shape[:3])
        mask = tf.reshape(mask, tf.stack([1, rows, shape[3]]))
        flat = tf.concat([tf.shape(mask), [self.dimension]], 0)
        words = self.words(tf.reshape(embedded, flat), mask, training)
        output = tf.concat([shape[:3], [self.units]], 0)
        words = tf.reshape(self.cast(words), output)
        return tf.ensure_shape(words, characters.shape[:3] + [self.units])

    def words(self, embedded, mask, training):
        """The features of words, `[1, N, units]`.

        Args:
            embedded: `[1, N, W, D]`.
            mask: bool `[1, N, W]`.
            training: whether a gradient will be taken.
        """
        raise NotImplementedError

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "dimension": self.dimension,
            "size": self.size,
        }


def _at_least_one(characters: tf.Tensor) -> tf.Tensor:
    """Pads words of no characters to one; XLA cannot loop over empty arrays."""
    if characters.shape[3]:
        return characters
    missing = tf.cast(tf.equal(tf.shape(characters)[3], 0), tf.int32)
    return tf.pad(characters, [[0, 0], [0, 0], [0, 0], [0, missing]])


@keras.saving.register_keras_serializable(package="mtl_tf")
class CharacterCNN(CharacterFeatures):
    """The maximum of each filter over a word's characters (Ma and Hovy 2016).

    `max over t of tanh(y_t)`, where y are the windows around the word's
    characters (see `ConvolutionBank`).

    Args:
        filters: number of filters, which is the size of the output.
        width: width of the windows, in characters.
        dimension, size, init: see `CharacterFeatures`.

    Input shape: int32 `[G, B, T, W]`, 0 is padding.
    Output shape: `[G, B, T, filters]`, in the policy's compute dtype.
    Masking: padding characters change nothing. A word without characters has
        zeros.

    Example:
        ```python
        features = CharacterCNN(filters=30, width=3)(characters)
        ```
    """

    def __init__(self, filters: int = 30, width: int = 3, **kwargs):
        super().__init__(**kwargs)
        self.filters = checks.positive_integer("characters.filters", filters)
        self.width = checks.positive_integer("characters.width", width)
        self.units = self.filters
        self.bank = ConvolutionBank(
            filters,
            [width],
            tasks=1,
            init=self.init,
            dtype=self.dtype_policy,
            name="bank",
        )

    def build(self, input_shape=None):
        """Makes the vectors and the filters."""
        super().build()
        self.bank.build((1, None, None, self.dimension))
        for weight in self.bank.weights:
            # The only "task" in the stack stands for all tasks.
            mark(weight, is_private=False)

    def words(self, embedded, mask, training):
        """See `CharacterFeatures.words`."""
        task = tf.zeros([1], tf.int32)
        answers = tf.tanh(self.bank(embedded, mask, task))
        # Less than every tanh; for words without characters it becomes 0.
        answers = tf.where(mask[..., None], answers, -2.0)
        best = tf.reduce_max(answers, 2)
        return tf.where(best < -1.5, tf.zeros_like(best), best)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "filters": self.filters,
            "width": self.width,
        }


@keras.saving.register_keras_serializable(package="mtl_tf")
class CharacterLSTM(CharacterFeatures):
    """The final states of two LSTMs over a word (Lample et al. 2016).

    The forward state after the last character and the backward state after the
    first are concatenated.

    Args:
        units: size of each LSTM's state; the output is twice as large.
        forget_bias: of both LSTMs; see `lstm.forget_offset`.
        dimension, size, init: see `CharacterFeatures`.

    Input shape: int32 `[G, B, T, W]`, 0 is padding.
    Output shape: `[G, B, T, 2 * units]`, in the policy's compute dtype.
    Masking: padding characters change nothing. A word without characters has
        zeros.

    Example:
        ```python
        features = CharacterLSTM(units=25)(characters)  # [G, B, T, 50]
        ```
    """

    def __init__(self, units: int = 25, forget_bias: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        options = {
            "forget_bias": forget_bias,
            "init": self.init,
            "dtype": self.dtype_policy,
        }
        self.forward = LSTM(units, name="forward", **options)
        self.backward = LSTM(units, reverse=True, name="backward", **options)
        self.units = 2 * units

    def build(self, input_shape=None):
        """Makes the vectors and the LSTMs."""
        super().build()
        for layer in (self.forward, self.backward):
            layer.build((1, None, None, self.dimension))

    def words(self, embedded, mask, training):
        """See `CharacterFeatures.words`."""
        task = tf.zeros([1], tf.int32)
        states = [
            layer(embedded, mask, task, training=training).state["hidden"]
            for layer in (self.forward, self.backward)
        ]
        return tf.concat(states, -1)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.forward.units,
            "forget_bias": self.forward.forget_bias,
        }
