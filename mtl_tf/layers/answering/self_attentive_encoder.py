"""An encoder of bidirectional LSTMs with self-attention between them."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.attention.transformer_block import TransformerBlock
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.recurrent.lstm import LSTM


@keras.saving.register_keras_serializable(package="mtl_tf")
class BidirectionalLSTM(StackedLayer):
    """The concatenated states of two LSTMs, one for each direction.

    McCann et al. (2018), footnote 4.

    Args:
        units: size D of the outputs; each direction has half of it.
        dropout: rate of dropout on the inputs.
        forget_bias: see `LSTM`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, K]`, a mask bool `[G, B, T]`.
    Output shape: `[G, B, T, D]`.
    Masking: padding changes nothing. Its own outputs have no meaning.

    Raises:
        ConfigError: `units` is odd.

    Example:
        ```python
        y = BidirectionalLSTM(200)(x, mask)
        ```
    """

    def __init__(
        self,
        units: int,
        dropout: float = 0.0,
        forget_bias: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        if units % 2:
            raise ConfigError(
                "units must be even, half of them for each direction, got "
                f"{units}"
            )
        self.dropout = Dropout(dropout, salt=f"{self.name}/input", short=True)
        self.forget_bias = forget_bias
        self.forward = self._direction("forward")
        self.backward = self._direction("backward")

    def _direction(self, name: str) -> LSTM:
        return LSTM(
            self.units // 2,
            reverse=name == "backward",
            forget_bias=self.forget_bias,
            name=f"{self.name}_{name}",
            init=self.init,
            dtype=self.dtype_policy,
        )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., K]`."""
        self.forward.build(input_shape)
        self.backward.build(input_shape)
        self.built = True

    def call(self, x, mask, training: bool = False, seed=None):
        """Reads; see the class."""
        x = self.dropout(self.cast(x), training=training, seed=seed)
        hidden = [
            layer(x, mask, None, training=training, sequence=True).sequences
            for layer in (self.forward, self.backward)
        ]
        return self.cast(tf.concat([states["hidden"] for states in hidden], -1))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "dropout": self.dropout.rate,
            "forget_bias": self.forget_bias,
        }


@keras.saving.register_keras_serializable(package="mtl_tf")
class SelfAttentiveEncoder(StackedLayer):
    """A bidirectional LSTM, self-attention, and a bidirectional LSTM again.

    McCann et al. (2018), equations 20 to 27 for one of the two texts: `com`,
    `self` and `fin`. The blocks are Transformer blocks with heads as wide as
    the inputs and a norm after each residual (as in the authors' code). They
    have no positions, because the LSTMs know them. Without blocks only the
    first bidirectional LSTM is used: the encoder of a plain
    sequence-to-sequence model.

    Args:
        units: size D of the outputs.
        blocks: number of self-attention layers.
        heads, feed_forward: see `TransformerBlock`.
        dropout: rate of dropout on the inputs of LSTMs and in the blocks.
        init: see `base.check_init`.

    Input shape: `[G, B, T, K]`, a mask bool `[G, B, T]`.
    Output shape: `[G, B, T, D]`.
    Masking: padding at any position changes nothing. Its own outputs have no
        meaning.

    Example:
        ```python
        y = SelfAttentiveEncoder(200, blocks=2)(x, mask)
        ```
    """

    def __init__(
        self,
        units: int,
        blocks: int = 2,
        heads: int = 3,
        feed_forward: int = 150,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.heads, self.hidden_units = heads, feed_forward
        self.rate = checks.fraction("dropout", dropout)
        count = checks.not_negative_integer("blocks", blocks)
        parts = {"init": self.init, "dtype": self.dtype_policy}

        def lstm(name):
            return BidirectionalLSTM(
                units, dropout, name=f"{self.name}_{name}", **parts
            )

        self.first = lstm("first")
        self.block_count = count
        # Attributes, not a list: tf.train.Checkpoint does not look into the
        # lists of Keras layers.
        for number in range(count):
            block = TransformerBlock(
                units,
                heads,
                feed_forward,
                dropout,
                norm="post",
                head_units=units,
                bias=False,
                name=f"{self.name}_block_{number}",
                **parts,
            )
            setattr(self, f"block_{number}", block)
        self.final = lstm("final") if count else None

    @property
    def blocks(self) -> list[TransformerBlock]:
        """The self-attention layers."""
        return [getattr(self, f"block_{n}") for n in range(self.block_count)]

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., K]`."""
        self.first.build(input_shape)
        wide = (*tuple(input_shape)[:-1], self.units)
        for block in self.blocks:
            block.build((None, None, self.units))
        if self.final is not None:
            self.final.build(wide)
        self.built = True

    def call(self, x, mask, training: bool = False, seed=None):
        """Encodes; see the class."""
        call = {"training": training, "seed": seed}
        x = self.first(x, mask, **call)
        if self.final is None:
            return x
        shape, places = tf.shape(x), tf.shape(mask)[-1]
        rows = tf.reshape(x, tf.stack([-1, places, self.units]))
        real = tf.reshape(mask, tf.stack([-1, places]))
        for block in self.blocks:
            rows, _ = block(rows, real, return_weights=False, **call)
        x = tf.ensure_shape(tf.reshape(rows, shape), x.shape)
        return self.final(x, mask, **call)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "blocks": self.block_count,
            "heads": self.heads,
            "feed_forward": self.hidden_units,
            "dropout": self.rate,
        }
