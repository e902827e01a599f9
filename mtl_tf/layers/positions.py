"""Where in a text a word stands."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer

KINDS = ("learned", "sinusoidal")


@keras.saving.register_keras_serializable(package="mtl_tf")
class Positions(StackedLayer):
    """Adds a vector to each word that depends on its place in the text.

    Sun (2019), section 3.1.4: the vectors are learned, or the sines and
    cosines of equation 3-5. Both are keras_nlp's.

    Args:
        kind: "learned" or "sinusoidal".
        length: how many places have a learned vector of their own; the words
            behind them all get the last one. Sines know no end.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, and maybe a mask bool `[G, B, T]`.
    Output shape: the same.
    Masking: padding gets positions too; with a mask none that no word has, so
        that a step names, for decay, the vectors of places in use alone.

    Example:
        ```python
        embedded = Positions("learned", length=512)(embedded)
        ```
    """

    def __init__(self, kind: str = "learned", length: int = 512, **kwargs):
        super().__init__(**kwargs)
        self.kind = checks.one_of("positions", kind, KINDS)
        self.length = checks.positive_integer("max_positions", length)

    def build(self, input_shape, *_):
        """Makes the vectors for inputs `[..., D]`."""
        # It takes two seconds to import, which other schemes can do without.
        import keras_nlp

        if self.kind == "learned":
            shape = (self.length, input_shape[-1])
            self.vectors = keras_nlp.layers.PositionEmbedding(
                self.length,
                self.initializer("vectors", shape),
                dtype=self.dtype_policy,
                name="vectors",
            )
            self.vectors.build(tuple(input_shape))
        else:
            # Half precision would not tell places behind the 256th apart.
            self.vectors = keras_nlp.layers.SinePositionEncoding(
                dtype="float32", name="vectors"
            )
        self.built = True

    def call(self, x, mask=None):
        """Adds the vectors to `x`."""
        positions, last = None, self.length - 1
        if self.kind == "learned":
            positions = tf.range(tf.shape(x)[-2])
            if mask is not None:
                words = tf.where(mask, positions, 0)
                last = tf.minimum(tf.reduce_max(words), last)
            positions = tf.minimum(positions, last)
        # The vectors of one text serve all.
        first_position = tf.cast(x[:1, :1], self.vectors.compute_dtype)
        return x + tf.cast(
            self.vectors(first_position, positions=positions), x.dtype
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = {"kind": self.kind, "length": self.length}
        return super().get_config() | config
