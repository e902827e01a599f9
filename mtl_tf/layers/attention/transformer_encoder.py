"""A stack of Transformer blocks."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.attention.transformer_block import (
    TransformerBlock,
    make_norm,
)
from mtl_tf.layers.base import StackedLayer, keep_keras_mask, mask_of


@keras.saving.register_keras_serializable(package="mtl_tf")
class TransformerEncoder(StackedLayer):
    """Transformer blocks and, for pre-norm ones, a final layer norm.

    Sun (2019), figure 3.1.

    Args:
        layers: number of blocks.
        units, heads, feed_forward, dropout, norm: see `TransformerBlock`.
        init: see `base.check_init`.

    Input shape: `[N, S, D]`, a mask bool `[N, S]` (otherwise Keras's mask, or
        every position is a token), and optionally `place`, int32 `[N]`: the
        only position of each text whose state is needed. The last block then
        computes no other.
    Output shape: the states `[N, S, D]` (or `[N, D]`), and a list of the
        blocks' attention weights, see `TransformerBlock`. With
        `return_weights=False`, which saves memory on long texts, the list is
        empty.
    Masking: padding changes nothing elsewhere, and its own states are 0.

    Example:
        ```python
        encoder = TransformerEncoder(4, units=300, heads=6, feed_forward=512)
        states, weights = encoder(x, mask)
        ```
    """

    def __init__(
        self,
        layers: int,
        units: int,
        heads: int,
        feed_forward: int,
        dropout: float = 0.0,
        norm: str = "pre",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.depth = checks.positive_integer("layers", layers)
        # Attributes, not a list: tf.train.Checkpoint does not look into the
        # lists and dictionaries of Keras layers.
        for number in range(layers):
            block = TransformerBlock(
                units,
                heads,
                feed_forward,
                dropout,
                norm,
                init=self.init,
                dtype=self.dtype_policy,
                name=f"block_{number}",
            )
            setattr(self, block.name, block)
        self.last_norm = None
        if norm == "pre":
            self.last_norm = make_norm(self, "last_norm")

    @property
    def blocks(self) -> list[TransformerBlock]:
        """The blocks, the lowest first."""
        return [getattr(self, f"block_{n}") for n in range(self.depth)]

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[N, S, D]`."""
        for block in self.blocks:
            block.build(input_shape)
        if self.last_norm is not None:
            self.last_norm.build(tuple(input_shape))
        self.built = True

    def call(
        self,
        x,
        mask=None,
        place=None,
        training=False,
        seed=None,
        return_weights=True,
    ):
        """Encodes; see the class."""
        texts, mask = x, mask_of(x, mask)
        attention = []
        for block in self.blocks:
            x, weights = block(
                x,
                mask,
                place if block is self.blocks[-1] else None,
                training=training,
                seed=seed,
                return_weights=return_weights,
            )
            if return_weights:
                attention.append(weights)
        if self.last_norm is not None:
            x = self.last_norm(x)
        if place is not None:
            return x[:, 0], attention
        states = tf.where(mask[..., None], x, 0)
        return keep_keras_mask(texts, states), attention

    def compute_mask(self, inputs, mask=None):
        """None, because `call` attaches the mask itself."""
        del inputs, mask

    def get_config(self) -> dict:
        """The constructor's arguments."""
        block = self.blocks[0].get_config()
        options = ("units", "heads", "feed_forward", "dropout", "norm")
        of_blocks = {option: block[option] for option in options}
        return super().get_config() | {"layers": self.depth} | of_blocks
