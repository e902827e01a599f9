"""Dropout as a pure function of a seed."""

import zlib

import keras
import tensorflow as tf

from mtl_tf.core import checks

# Values of a short draw.
_DRAWS = 1 << 16


def salted(seed: tf.Tensor, salt: str) -> tf.Tensor:
    """A seed int32 `[2]` of one's own from a step's seed and a name."""
    salts = [
        zlib.crc32(f"{salt}/{word}".encode()) & 0x7FFFFFFF for word in range(2)
    ]
    return tf.bitwise.bitwise_xor(tf.cast(seed, tf.int32), salts)


@keras.saving.register_keras_serializable(package="mtl_tf")
class Dropout(keras.layers.Layer):
    """Sets a fraction of its inputs to zero and scales up the others.

    Srivastava et al. (2014). What is dropped is a pure function of the seed
    of the call and of the layer's salt: a training step that is run again
    gives the same result. (Inside a function that XLA compiles TensorFlow
    draws other numbers from a seed than outside, but always the same ones.)

    Args:
        rate: fraction of the inputs to drop, at least 0 and below 1.
        salt: distinguishes the dropout layers of a model.
        short: draw 16 bits an input in place of a float, which takes half
            the time; the rate is then a multiple of 1 / 65536. For large
            inputs, such as weights of attention.

    Input shape: any.
    Output shape: the same.
    Masking: none.

    Example:
        ```python
        seed = tf.constant([1, 2])
        y = Dropout(0.5, salt="head")(x, training=True, seed=seed)
        ```
    """

    def __init__(
        self, rate: float, salt: str = "", short: bool = False, **kwargs
    ):
        super().__init__(autocast=False, **kwargs)
        self.rate = checks.fraction("dropout rate", rate)
        self.salt = salt
        self.short = bool(short)
        self.built = True

    def call(self, x, training: bool = False, seed=None):
        """Drops parts of `x` if `training`.

        Args:
            x: a tensor.
            training: False returns `x` itself.
            seed: int32 `[2]`; needed when training with a rate above 0. What
                is dropped is a function of it: it has to change with every
                step.

        Raises:
            ValueError: the seed is missing.
        """
        if not training or not self.rate:
            return x
        if seed is None:
            raise ValueError(
                f"{self.name}: training needs a seed, got None: give one that "
                "changes with every step, int32 [2], such as an input of the "
                "model; a constant one would always drop the same units"
            )
        if self.short:
            return x * self._short_factors(tf.shape(x), x.dtype, seed)
        # Philox by name: the default generator depends on the device.
        draw = tf.random.stateless_uniform(
            tf.shape(x), salted(seed, self.salt), dtype=tf.float32, alg="philox"
        )
        return self.drop(x, draw >= self.rate)

    def drop(self, x, kept):
        """What becomes of `x`, where it is `kept` and elsewhere."""
        return tf.where(kept, x / tf.cast(1.0 - self.rate, x.dtype), 0)

    def _short_factors(self, shape, dtype, seed):
        """What to multiply an input of `shape` with: 0 or 1 / (1 - rate)."""
        size = tf.reduce_prod(shape)
        words = tf.random.stateless_uniform(
            [(size + 1) // 2],
            salted(seed, self.salt),
            minval=None,
            maxval=None,
            dtype=tf.uint32,
            alg="philox",
        )
        # Two draws a word, from -32768 on.
        draws = tf.reshape(tf.bitcast(words, tf.int16), [-1])[:size]
        dropped = min(round(self.rate * _DRAWS), _DRAWS - 1)
        kept = tf.reshape(draws, shape) >= dropped - _DRAWS // 2
        return tf.cast(kept, dtype) * (_DRAWS / (_DRAWS - dropped))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = super().get_config() | {
            "rate": self.rate,
            "salt": self.salt,
            "short": self.short,
        }
        config.pop("autocast", None)
        return config
