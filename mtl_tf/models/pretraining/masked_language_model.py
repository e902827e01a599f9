"""A masked language model: an encoder that predicts masked pieces."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import checks, random
from mtl_tf.layers.pretrained import backbone_dropout, fused_activation
from mtl_tf.layers.pretrained.pretrained_encoder import states_of
from mtl_tf.layers.pretrained.sublayers import sublayers

# Standard deviation of the normal distribution of the initial weights in Devlin
# et al. (2019).
_WIDTH = 0.02


@keras.saving.register_keras_serializable(package="mtl_tf")
class MaskedLanguageModel(keras.Model):
    """A keras_hub backbone with a head that predicts masked pieces.

    Devlin et al. (2019), section 3.1, task 1. The head is a dense layer, layer
    normalisation and the encoder's own piece vectors
    (`keras_hub.layers.MaskedLMHead`).

    Args:
        backbone: config of the backbone, as Keras serialises it.
        pad: id of the padding, in the backbone's numbering.
        seed: seed of the random weights, which depend on it alone.
        precision: dtype policy of the backbone, such as mixed_bfloat16. The
            head computes in float32.

    Input shape: a batch: "tokens" int32 `[G, B, T]`, ids of the backbone plus
        1, 0 is padding; "places" int32 `[G, B, P]`, the positions to predict;
        "pieces" int32 `[G, B, P]`, the original pieces, in the backbone's
        numbering; "counted" float32 `[G, B, P]`, 0 where a text has fewer than
        P masked pieces.
    Output shape: "loss" float32 `[G, B]`, the negative log-likelihood in nats,
        summed over an example's masked pieces; "losses", which is empty.
    Masking: padding changes nothing.
    """

    static_shapes = False

    def __init__(
        self,
        backbone: Mapping[str, Any],
        pad: int,
        seed: int = 0,
        precision: str = "float32",
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self._config, self.pad = dict(backbone), int(pad)
        self._precision = precision
        self.seed = checks.not_negative_integer("seed", seed)

    def build(self, input_shape=None):
        """Makes the backbone and the head with random weights."""
        import keras_nlp

        config = {**self._config, "config": dict(self._config["config"])}
        config["config"]["trainable"] = True
        config["config"]["dtype"] = self._precision
        self.backbone = keras.saving.deserialize_keras_object(config)
        states = states_of(self.backbone)
        self.network = keras.Model(self.backbone.input, states, name="network")
        self._inputs = tuple(sorted(self.backbone.input))
        layers = sublayers(self.network)
        backbone_dropout.make_pure(layers)
        fused_activation.fuse(layers)
        self.head = keras_nlp.layers.MaskedLMHead(
            token_embedding=self.backbone.token_embedding,
            intermediate_activation="gelu",
            name="head",
        )
        self.head.build((None, None, states.shape[-1]))
        for weight in self.weights:
            # Biases and normalisation factors keep Keras's initial values.
            if weight.name not in ("bias", "beta", "gamma", "output_bias"):
                weight.assign(self._drawn(weight))
        self.built = True

    def _drawn(self, weight: keras.Variable) -> Any:
        path = weight.path.partition("/")[2]
        values = random.generator(self.seed, path).normal(size=weight.shape)
        return _WIDTH * values.clip(-2.0, 2.0)

    def set_pretrained(self, backbone: keras.Model) -> None:
        """Copies the weights of a backbone with the same config."""
        self.backbone.set_weights(backbone.get_weights())

    def trained_variables(self) -> list[keras.Variable]:
        """The weights that affect the loss, without those of other outputs."""
        variables = [*self.network.trainable_variables]
        ids = {id(v) for v in variables}
        of_head = self.head.trainable_variables
        return variables + [v for v in of_head if id(v) not in ids]

    def call(self, batch, training: bool = False, seed=None) -> dict:
        """The losses of a batch.

        Args:
            batch: see the class.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for dropout.
        """
        tokens = batch["tokens"]
        shape = tf.shape(tokens)
        flat = tf.reshape(tokens, [-1, shape[2]])  # [N, T]
        real = flat > 0
        known = {
            "token_ids": tf.where(real, flat - 1, self.pad),
            "padding_mask": tf.cast(real, tf.int32),
            "segment_ids": tf.zeros_like(flat),
        }
        with backbone_dropout.seeded(seed):
            states = self.network(
                {name: known[name] for name in self._inputs}, training=training
            )
        count = tf.shape(batch["places"])[2]
        places = tf.reshape(batch["places"], [-1, count])
        logits = tf.cast(self.head(states, places), tf.float32)  # [N, P, V]
        pieces = tf.reshape(batch["pieces"], [-1, count])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(pieces, logits)
        loss = tf.reshape(loss, tf.shape(batch["pieces"]))
        return {
            "loss": tf.reduce_sum(loss * batch["counted"], -1),
            "losses": {},
        }
