"""Position embeddings."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer

KINDS = ("learned", "sinusoidal")


@keras.saving.register_keras_serializable(package="mtl_tf")
class Positions(StackedLayer):
    """Adds to each word a vector that depends on its position in the text.

    Sun (2019), section 3.1.4: the vectors are learned, or the sines and cosines
    of equation 3-5. Both are keras_nlp's.

    Args:
        kind: "learned" or "sinusoidal".
        length: number of positions with a learned vector. Words after them all
            get the last one. Sines have no limit.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, and optionally a mask bool `[G, B, T]`.
    Output shape: the same.
    Masking: padding gets positions too. With a mask, these are only positions
        that some word has, so that weight decay affects only vectors in use.

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
        # Importing it takes two seconds, which other schemes can avoid.
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
            # Half precision could not distinguish positions after the 256th.
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
        # The vectors of one text are used for all.
        first_position = tf.cast(x[:1, :1], self.vectors.compute_dtype)
        return x + tf.cast(
            self.vectors(first_position, positions=positions), x.dtype
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = {"kind": self.kind, "length": self.length}
        return super().get_config() | config
