"""One Transformer layer: attention, feed-forward, residuals, norms."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.attention.self_attention import SelfAttention
from mtl_tf.layers.base import StackedLayer, keep_keras_mask, mask_of
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.feed_forward import FeedForward

NORMS = ("pre", "post")
_EPSILON = 1e-6


def make_norm(layer: StackedLayer, name: str) -> keras.layers.Layer:
    """A layer norm that computes in float32, for a part of `layer`."""
    return keras.layers.LayerNormalization(
        epsilon=_EPSILON, dtype=layer.dtype_policy, name=f"{layer.name}_{name}"
    )


@keras.saving.register_keras_serializable(package="mtl_tf")
class TransformerBlock(StackedLayer):
    """Self-attention and a feed-forward network, each with a residual.

    Sun (2019), figure 3.1. With norm "pre" each of the two sublayers is
    `x + dropout(sublayer(norm(x)))`, as in the code that produced the thesis's
    table. With "post" it is `norm(x + dropout(sublayer(x)))`, as printed in its
    text and in Vaswani et al. (2017).

    Args:
        units: size D of the inputs and outputs.
        heads: see `SelfAttention`.
        feed_forward: hidden units of the feed-forward network.
        dropout: dropout rate for the sublayers' outputs, the attention weights
            and the hidden layer of the feed-forward network.
        norm: "pre" or "post".
        head_units, bias: of the attention; see `SelfAttention`.
        init: see `base.check_init`.

    Input shape: `[N, S, D]`, a mask bool `[N, S]` (otherwise Keras's mask, or
        every position is a token), and optionally `place`, int32 `[N]`: the
        only position of each text whose output is needed.
    Output shape: `[N, S, D]` (or `[N, 1, D]`), and the attention weights
        float32 `[N, heads, S, S]` (or `[N, heads, 1, S]`). With
        `return_weights=False` they may be None.
    Masking: padding is not attended to. Its own outputs have no meaning.

    Example:
        ```python
        x, weights = TransformerBlock(300, heads=6, feed_forward=512)(x, mask)
        ```
    """

    def __init__(
        self,
        units: int,
        heads: int,
        feed_forward: int,
        dropout: float = 0.0,
        norm: str = "pre",
        head_units: int | None = None,
        bias: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.norm = checks.one_of("norm", norm, NORMS)
        self.dropout = checks.fraction("dropout", dropout)
        # Initial values and dropout depend on these names.
        parts = {"init": self.init, "dtype": self.dtype_policy}
        self.attention = SelfAttention(
            units,
            heads,
            dropout,
            head_units,
            bias,
            name=f"{self.name}_attention",
            **parts,
        )
        self.feed_forward = FeedForward(
            units,
            feed_forward,
            dropout,
            name=f"{self.name}_feed_forward",
            **parts,
        )
        self.attention_norm = make_norm(self, "attention_norm")
        self.feed_forward_norm = make_norm(self, "feed_forward_norm")
        self.attention_dropout = self._dropout("attention")
        self.feed_forward_dropout = self._dropout("feed_forward")

    def _dropout(self, part: str) -> Dropout:
        return Dropout(self.dropout, salt=f"{self.name}/{part}", short=True)

    def build(self, input_shape, *_):
        """Makes the weights of the parts for inputs `[N, S, D]`."""
        shape = tuple(input_shape)
        self.attention.build(shape)
        self.feed_forward.build(shape)
        self.attention_norm.build(shape)
        self.feed_forward_norm.build(shape)
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
        """Computes the block; see the class."""
        call = {"training": training, "seed": seed}
        texts, mask = x, mask_of(x, mask)
        x, pre = self.cast(x), self.norm == "pre"
        keys = self.attention_norm(x) if pre else x
        queries = None
        if place is not None:
            queries = tf.gather(keys, place, batch_dims=1)[:, None]
            x = tf.gather(x, place, batch_dims=1)[:, None]
        read, weights = self.attention(
            keys, mask, queries, return_weights=return_weights, **call
        )
        x = x + self.attention_dropout(read, **call)
        x = x if pre else self.attention_norm(x)
        y = self.feed_forward(self.feed_forward_norm(x) if pre else x, **call)
        x = x + self.feed_forward_dropout(y, **call)
        x = x if pre else self.feed_forward_norm(x)
        return (keep_keras_mask(texts, x) if place is None else x), weights

    def compute_mask(self, inputs, mask=None):
        """None, because `call` attaches the mask itself."""
        del inputs, mask

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.attention.units,
            "heads": self.attention.heads,
            "feed_forward": self.feed_forward.hidden_units,
            "dropout": self.dropout,
            "norm": self.norm,
            "head_units": self.attention.head_units,
            "bias": self.attention.use_bias,
        }
