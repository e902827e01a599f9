"""The feed-forward network of a Transformer."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.products import product


@keras.saving.register_keras_serializable(package="mtl_tf")
class FeedForward(StackedLayer):
    """`max(0, x W_1 + b_1) W_2 + b_2`, the same at every position.

    Sun (2019), equation 3-4, after Vaswani et al. (2017). Dropout is on the
    hidden layer, as in the thesis's code.

    Args:
        units: size D of the outputs.
        hidden_units: size F of the hidden layer.
        dropout: rate of dropout on the hidden layer.
        init: see `base.check_init`.

    Input shape: `[..., D]`.
    Output shape: `[..., D]`.
    Masking: none; each position is computed separately.

    Example:
        ```python
        y = FeedForward(units=300, hidden_units=512)(x)
        ```
    """

    def __init__(
        self, units: int, hidden_units: int, dropout: float = 0.0, **kwargs
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.hidden_units = checks.positive_integer(
            "feed_forward", hidden_units
        )
        self.dropout = Dropout(dropout, salt=f"{self.name}/hidden", short=True)

    def build(self, input_shape, *_):
        """Makes W_1 `[D, F]`, b_1, W_2 `[F, D]` and b_2."""
        self.kernel = self.add("kernel", input_shape[-1], self.hidden_units)
        self.bias = self.add("bias", self.hidden_units)
        self.output_kernel = self.add(
            "output_kernel", self.hidden_units, self.units
        )
        self.output_bias = self.add("output_bias", self.units)
        self.built = True

    def call(self, x, training=False, seed=None):
        """Applies the network; see the class."""
        hidden = product(x, self.cast(self.kernel)) + self.cast(self.bias)
        hidden = self.dropout(tf.nn.relu(hidden), training=training, seed=seed)
        y = product(hidden, self.cast(self.output_kernel))
        return y + self.cast(self.output_bias)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "hidden_units": self.hidden_units,
            "dropout": self.dropout.rate,
        }
