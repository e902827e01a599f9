"""Dropout as a pure function of a seed."""

import zlib

import keras
import tensorflow as tf

from mtl_tf.core import checks, random

# Number of values of a 16-bit draw.
_DRAWS = 1 << 16


def salted(seed: tf.Tensor, salt: str) -> tf.Tensor:
    """A separate seed int32 `[2]`, from a step's seed and a name."""
    salts = [
        zlib.crc32(f"{salt}/{word}".encode()) & 0x7FFFFFFF for word in range(2)
    ]
    return tf.bitwise.bitwise_xor(tf.cast(seed, tf.int32), salts)


class _Counter:
    """Seeds for calls without one: 0, 1, 2, ... with the layer's name.

    It is made at the first such call and is not a weight of the layer. Models
    that get a seed at each step therefore neither hold, save nor restore it.
    """

    def __init__(self):
        self._generator: keras.random.SeedGenerator | None = None

    def next(self, name: str) -> tf.Tensor:
        """The next seed, int32 `[2]`.

        Args:
            name: name of the layer, for the first call.
        """
        if self._generator is None:
            seed = random.fold(0, name) & 0x7FFFFFFF
            # Calls are traced; the variable has to outlive the trace.
            with tf.init_scope():
                self._generator = keras.random.SeedGenerator(seed)
        return tf.cast(self._generator.next(), tf.int32)


@keras.saving.register_keras_serializable(package="mtl_tf")
class Dropout(keras.layers.Layer):
    """Sets a fraction of its inputs to zero and scales up the others.

    Srivastava et al. (2014). Which inputs are dropped depends only on the seed
    of the call and on the layer's salt, so repeating a training step gives the
    same result. (Inside a function that XLA compiles, TensorFlow draws other
    numbers from a seed than outside, but always the same ones.)

    Without a seed, as in Keras's `fit`, it counts its training calls and draws
    from that number and its path. Equal programs then drop the same units, but
    a loaded model counts from 0 again.

    Args:
        rate: fraction of the inputs to drop, at least 0 and below 1.
        salt: distinguishes the dropout layers of a model.
        short: draw 16 bits per input instead of a float, which takes half the
            time. The rate is then a multiple of 1 / 65536. For large inputs,
            such as attention weights.

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
        self.short = checks.boolean("short", short)
        self.supports_masking = True
        self._counter = _Counter()
        self.built = True

    def call(self, x, training: bool = False, seed=None):
        """Drops parts of `x` if `training`.

        Args:
            x: a tensor.
            training: False returns `x` itself.
            seed: int32 `[2]`. It decides what is dropped, so it must change
                with every step. None counts the calls.
        """
        if not training or not self.rate:
            return x
        if seed is None:
            seed = self._counter.next(self.path or self.name)
        if self.short:
            return x * self._short_factors(tf.shape(x), x.dtype, seed)
        # Philox explicitly: the default generator depends on the device.
        draw = tf.random.stateless_uniform(
            tf.shape(x), salted(seed, self.salt), dtype=tf.float32, alg="philox"
        )
        return self.drop(x, draw >= self.rate)

    def drop(self, x, keep_mask):
        """Scales `x` where `keep_mask` is true and drops the rest."""
        return tf.where(keep_mask, x / tf.cast(1.0 - self.rate, x.dtype), 0)

    def _short_factors(self, shape, dtype, seed):
        """Factors for an input of `shape`: 0 or 1 / (1 - rate)."""
        size = tf.reduce_prod(shape)
        words = tf.random.stateless_uniform(
            [(size + 1) // 2],
            salted(seed, self.salt),
            minval=None,
            maxval=None,
            dtype=tf.uint32,
            alg="philox",
        )
        # Each word holds two draws, which start at -32768.
        draws = tf.reshape(tf.bitcast(words, tf.int16), [-1])[:size]
        dropped = min(round(self.rate * _DRAWS), _DRAWS - 1)
        keep_mask = tf.reshape(draws, shape) >= dropped - _DRAWS // 2
        return tf.cast(keep_mask, dtype) * (_DRAWS / (_DRAWS - dropped))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = super().get_config() | {
            "rate": self.rate,
            "salt": self.salt,
            "short": self.short,
        }
        config.pop("autocast", None)
        return config
