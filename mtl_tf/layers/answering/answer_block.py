"""A decoder layer: self-attention, attention to a text, feed-forward."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.attention.self_attention import SelfAttention
from mtl_tf.layers.attention.transformer_block import make_norm
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.feed_forward import FeedForward


@keras.saving.register_keras_serializable(package="mtl_tf")
class AnswerBlock(StackedLayer):
    """Self-attention over the answer so far, then attention to the context.

    McCann et al. (2018), equations 4 to 6. Each of the three parts has a
    residual connection and is followed by a layer norm,
    `norm(x + dropout(part(x)))`, as in the authors' code. (The paper's
    equations show no norms, but its text mentions them.) A position reads
    itself and those before it.

    Args:
        units: size D of the inputs and outputs.
        heads: number of heads, each of size D.
        feed_forward: hidden units of the feed-forward network.
        dropout: dropout rate for the parts' outputs, the attention weights and
            the hidden layer of the feed-forward network.
        init: see `base.check_init`.

    Input shape: `[N, U, D]`, its mask bool `[N, U]`, a context `[N, S, D]` and
        its mask bool `[N, S]`.
    Output shape: `[N, U, D]`.
    Masking: padding is not read, and its own outputs have no meaning.

    Example:
        ```python
        x = AnswerBlock(200, heads=3, feed_forward=150)(
            x, mask, context, context_mask
        )
        ```
    """

    def __init__(
        self,
        units: int,
        heads: int,
        feed_forward: int,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.dropout = checks.fraction("dropout", dropout)
        # Initial values and dropout depend on these names.
        parts = {"init": self.init, "dtype": self.dtype_policy}
        wide = {"head_units": units, "bias": False, **parts}
        self.own = SelfAttention(
            units, heads, dropout, causal=True, name=f"{self.name}_own", **wide
        )
        self.context = SelfAttention(
            units, heads, dropout, name=f"{self.name}_context", **wide
        )
        self.feed_forward = FeedForward(
            units,
            feed_forward,
            dropout,
            name=f"{self.name}_feed_forward",
            **parts,
        )
        # Attributes, not lists: tf.train.Checkpoint does not look into the
        # lists of Keras layers.
        self.own_norm = make_norm(self, "own_norm")
        self.context_norm = make_norm(self, "context_norm")
        self.feed_forward_norm = make_norm(self, "feed_forward_norm")
        self.dropouts = {
            name: Dropout(self.dropout, salt=f"{self.name}/{name}", short=True)
            for name in ("own", "context", "feed_forward")
        }

    def build(self, input_shape, *_):
        """Makes the weights of the parts for inputs `[N, U, D]`."""
        shape = tuple(input_shape)
        for name in ("own", "context", "feed_forward"):
            getattr(self, name).build(shape)
            getattr(self, f"{name}_norm").build(shape)
        self.built = True

    def call(self, x, mask, context, context_mask, training=False, seed=None):
        """Computes the block for whole answers; see the class."""
        call = {"training": training, "seed": seed}
        x = self.cast(x)
        read, _ = self.own(x, mask, return_weights=False, **call)
        x = self._joined("own", x, read, call)
        read, _ = self.context(
            context, context_mask, x, return_weights=False, **call
        )
        x = self._joined("context", x, read, call)
        return self._joined(
            "feed_forward", x, self.feed_forward(x, **call), call
        )

    def empty(self, rows: tf.Tensor, places: int) -> tf.Tensor:
        """The cache of `rows` answers that are still empty.

        Args:
            rows: N.
            places: maximum number of words in an answer, U.

        Returns:
            Zeros `[N, U, D]`, to be filled with the block's inputs. Because
            each head has size D, nothing else needs to be cached.
        """
        shape = tf.stack([rows, places, self.units])
        return tf.zeros(shape, self.compute_dtype)

    def folded(self) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
        """The maps of both attentions, computed once for all positions."""
        return {"own": self.own.folded(), "context": self.context.folded()}

    def advance(self, x, place, cache, context, context_mask, folded):
        """Computes one more position, in constant time.

        Args:
            x: the block's input at the new position, `[N, 1, D]`.
            place: the number of the new position, int32 [].
            cache: the cache of the previous positions; see `empty`.
            context: the contexts, `[N, S, D]`.
            context_mask: bool `[N, S]`.
            folded: the result of `folded`.

        Returns:
            The block's output at the new position `[N, 1, D]`, and the cache
            with the new position.
        """
        x = self.cast(x)
        at = tf.equal(tf.range(tf.shape(cache)[1]), place)[:, None]
        cache = tf.where(at, x, cache)
        written = cache[:, : place + 1]
        real = tf.ones(tf.shape(written)[:2], tf.bool)
        read = self.own.look(written, real, x[:, 0], folded["own"])
        x = self._joined("own", x, read[:, None], {})
        read = self.context.look(
            context, context_mask, x[:, 0], folded["context"]
        )
        x = self._joined("context", x, read[:, None], {})
        return self._joined("feed_forward", x, self.feed_forward(x), {}), cache

    def _joined(self, part: str, x, y, call):
        norm = getattr(self, f"{part}_norm")
        return norm(x + self.dropouts[part](y, **call))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "heads": self.own.heads,
            "feed_forward": self.feed_forward.hidden_units,
            "dropout": self.dropout,
        }
