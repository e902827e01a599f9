"""A bidirectional encoder of token ids."""

from collections.abc import Mapping

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.recurrent.gru import GRU


@keras.saving.register_keras_serializable(package="mtl_tf")
class GRUEncoder(StackedLayer):
    """Annotates tokens with the states of two gated recurrent units.

    Equation 8 of Dong et al. (2015): `h_j = [forward h_j; backward h_j]`.

    Args:
        vocabulary_size: number of tokens.
        embedding_dim: size of their vectors.
        units: size H of each direction's state.
        bias: whether pre-activations have a bias.
        dropout: rates for "embedding" and for the annotations, "encoding".
        init: see `base.check_init`.

    Input shape: int32 `[G, B, S]`, 0 is padding.
    Output shape: "annotations" `[G, B, S, 2 H]`, "mask" bool `[G, B, S]`, and
        "first" `[G, B, H]`, the backward state at the first token.
    Masking: padding changes nothing. A row without tokens has zeros.

    Example:
        ```python
        encoded = GRUEncoder(8000, 256, 256)(tokens)
        ```
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        units: int,
        bias: bool = True,
        dropout: Mapping[str, float] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.use_bias = checks.boolean("bias", bias)
        shared = {"init": self.init, "dtype": self.dtype_policy}
        self.embedding = Embedding(
            vocabulary_size,
            embedding_dim,
            name=f"{self.name}_embedding",
            **shared,
        )
        self.forward = GRU(
            units, bias=bias, name=f"{self.name}_forward", **shared
        )
        self.backward = GRU(
            units, True, bias, name=f"{self.name}_backward", **shared
        )
        rates = {"embedding": 0.0, "encoding": 0.0} | dict(dropout or {})
        self.dropout = rates
        self.embedding_dropout = Dropout(
            rates["embedding"], salt=f"{self.name}_embedding"
        )
        self.encoding_dropout = Dropout(
            rates["encoding"], salt=f"{self.name}_encoding"
        )

    def build(self, input_shape=None):
        """Makes all weights."""
        self.embedding.build()
        embedded = (None, None, None, self.embedding.dimension)
        self.forward.build(embedded)
        self.backward.build(embedded)
        self.built = True

    def call(self, tokens, training: bool = False, seed=None) -> dict:
        """Encodes tokens; `seed` int32 `[2]` is for dropout."""
        mask = self.embedding.mask(tokens)
        embedded = self.embedding_dropout(
            self.embedding(tokens), training=training, seed=seed
        )
        results = [
            layer(embedded, mask, training=training, sequence=True)
            for layer in (self.forward, self.backward)
        ]
        hidden = [result.sequences["hidden"] for result in results]
        annotations = self.encoding_dropout(
            self.cast(tf.concat(hidden, -1)), training=training, seed=seed
        )
        first = self.cast(results[1].state["hidden"])
        return {"annotations": annotations, "mask": mask, "first": first}

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.embedding.vocabulary_size,
            "embedding_dim": self.embedding.dimension,
            "units": self.units,
            "bias": self.use_bias,
            "dropout": dict(self.dropout),
        }
