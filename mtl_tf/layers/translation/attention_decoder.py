"""A decoder with attention, for given targets or one token at a time."""

from collections.abc import Mapping

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import BOS
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.products import product
from mtl_tf.layers.recurrent.gru import gru_inputs, gru_update
from mtl_tf.layers.recurrent.recurrence import Recurrence, on_tpu
from mtl_tf.layers.recurrent.steps import Operations, Tensors
from mtl_tf.layers.softmax_output import SoftmaxOutput
from mtl_tf.layers.translation.additive_attention import (
    AdditiveAttention,
    attend,
)


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    """s_t and c_t: equations 3 to 7 of Dong et al. (2015)."""
    hidden = state["hidden"]
    units = hidden.shape[-1]
    # The state times the attention's W and times U_z and U_r.
    a = ops.matmul(hidden, "recurrent")
    query, gates = tf.split(a, [a.shape[-1] - 2 * units, 2 * units], -1)
    context, weights = attend(ops, query)
    ops.emit("attention", weights)
    b = ops.matmul(context, "context")
    of_gates, of_candidate = tf.split(b, [2 * units, units], -1)
    new = gru_update(
        ops,
        gates + inputs["gates"] + of_gates,
        inputs["candidate"] + of_candidate,
        hidden,
    )
    return {"hidden": new, "context": context}


@keras.saving.register_keras_serializable(package="mtl_tf")
class AttentionDecoder(StackedLayer):
    """A gated recurrent unit that attends to annotations, predicting tokens.

    Equations 2 to 7 of Dong et al. (2015), after Bahdanau et al. (2014):
    `c_t = attention(s_(t-1))`, `s_t = GRU(s_(t-1), [y_(t-1); c_t])`, `p(y_t) =
    softmax(W tanh(W_s s_t + W_y y_(t-1) + W_c c_t))`, and `s_0 = tanh(W_i h)`
    where h is the backward state at the source's first token.

    Only s_t and c_t are computed in the loop. The products of the embeddings,
    the readout and the output layer are one product each for all steps. The
    latter two are computed for real tokens only.

    Args:
        vocabulary_size: number of target tokens, including `special_ids`.
        embedding_dim: size E of their vectors.
        units: size H of the state.
        attention_units: size A of the alignment's hidden layer.
        readout_units: size R of the last hidden layer.
        bias: whether pre-activations have a bias.
        dropout: rates for "embedding" and "readout".
        label_smoothing, samples: see `SoftmaxOutput`.
        init: see `base.check_init`.

    Input shape: targets int32 `[G, B, U]`, with the end token's id after the
        last token, and an encoder's output: "annotations" `[G, B, S, D]`,
        "mask" bool `[G, B, S]`, "first" `[G, B, D']`.
    Output shape: "losses" float32 `[G, B, U]`, the negative log-likelihoods of
        the tokens, and "attention" `[G, B, U, S]` if requested.
    Masking: padding of source and target changes nothing. Its losses are 0.

    Example:
        ```python
        decoder = AttentionDecoder(8000, 256, 256)
        loss = tf.reduce_sum(decoder(target, encoded)["losses"], -1)
        ```
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        units: int,
        attention_units: int | None = None,
        readout_units: int | None = None,
        bias: bool = True,
        dropout: Mapping[str, float] | None = None,
        label_smoothing: float = 0.0,
        samples: int = 0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.readout_units = checks.positive_integer(
            "readout_units", readout_units or units
        )
        self.use_bias = checks.boolean("bias", bias)
        shared = {"init": self.init, "dtype": self.dtype_policy}
        self.embedding = Embedding(
            vocabulary_size,
            embedding_dim,
            name=f"{self.name}_embedding",
            **shared,
        )
        self.attention = AdditiveAttention(
            attention_units or units,
            units,
            bias,
            name=f"{self.name}_attention",
            **shared,
        )
        self.output_layer = SoftmaxOutput(
            vocabulary_size,
            bias,
            label_smoothing,
            samples,
            name=f"{self.name}_output",
            **shared,
        )
        rates = {"embedding": 0.0, "readout": 0.0} | dict(dropout or {})
        self.dropout = rates
        self.embedding_dropout = Dropout(
            rates["embedding"], salt=f"{self.name}_embedding"
        )
        self.readout_dropout = Dropout(
            rates["readout"], salt=f"{self.name}_readout"
        )
        self._recurrence = Recurrence(_step, gru_inputs)

    def build(self, target_shape, encoded_shape):
        """Makes the weights for annotations `[..., D]`."""
        depth = encoded_shape["annotations"][-1]
        first, units = encoded_shape["first"][-1], self.units
        self.embedding.build()
        self.attention.build((None, None, None, depth))
        self.output_layer.build((None, self.readout_units))
        # The unit reads [y; c]: one matrix to initialise, two to multiply with.
        embedding = self.embedding.dimension
        self.kernel = self.add("kernel", embedding + depth, 3 * units, gates=3)
        self.recurrent = self.add("recurrent", units, 2 * units, gates=2)
        self.candidate = self.add("candidate", units, units)
        self.initial = self.add("initial", first, units)
        self.readout = self.add(
            "readout", units + embedding + depth, self.readout_units
        )
        if self.use_bias:
            self.bias = self.add("bias", 3 * units)
            self.initial_bias = self.add("initial_bias", units)
            self.readout_bias = self.add("readout_bias", self.readout_units)
        self.built = True

    def call(
        self,
        target,
        encoded,
        training: bool = False,
        seed=None,
        inspect: bool = False,
    ) -> dict:
        """Decodes given targets; `seed` is for dropout and sampling."""
        mask = tf.not_equal(target, 0)
        embedded = self.embedding_dropout(
            self.embedding(_shifted(target)), training=training, seed=seed
        )
        state = self.start(encoded)
        result = self._recurrence(
            embedded,
            mask,
            self._weights(),
            state | {"context": self._no_context(encoded)},
            self.attention(encoded["annotations"], encoded["mask"]),
            training=training,
            sequences=("hidden", "context"),
            emits=("attention",) if inspect else (),
        )
        sequences = result.sequences
        states = [sequences["hidden"], embedded, sequences["context"]]
        losses = self._token_losses(states, target, mask, training, seed)
        return {"losses": losses, **result.emitted}

    def _token_losses(self, states, target, mask, training, seed):
        """The tokens' losses `[G, B, U]`."""
        shape = tf.shape(target)
        states = [tf.reshape(x, [-1, x.shape[-1]]) for x in states]
        target, mask = tf.reshape(target, [-1]), tf.reshape(mask, [-1])
        if not on_tpu():
            # Readout and output layer are most of the work, so they skip
            # padding.
            positions = tf.where(mask)[:, 0]
            target, *states = (
                tf.gather(x, positions) for x in (target, *states)
            )
        losses = self.output_layer(
            self.readout_dropout(
                self._read_out(states), training=training, seed=seed
            ),
            target,
            training=training,
            seed=seed,
        )
        if on_tpu():
            return tf.reshape(tf.where(mask, losses, 0.0), shape)
        losses = tf.scatter_nd(
            positions[:, None], losses, tf.shape(mask, out_type=tf.int64)
        )
        return tf.reshape(losses, shape)

    def _read_out(self, read):
        """`tanh(W_s s + W_y y + W_c c)` (equation 2), `[..., R]`."""
        read = tf.concat([self.cast(x) for x in read], -1)
        a = tf.cast(product(read, self.cast(self.readout.value)), tf.float32)
        return tf.tanh(a + self.readout_bias.value if self.use_bias else a)

    def start(self, encoded) -> dict[str, tf.Tensor]:
        """The state before the first token: "hidden" `[G, B, H]`."""
        first = self.cast(encoded["first"])
        a = tf.cast(product(first, self.cast(self.initial.value)), tf.float32)
        if self.use_bias:
            a += self.initial_bias.value
        return {"hidden": tf.tanh(a)}

    def memory(self, encoded) -> dict[str, tf.Tensor]:
        """What `advance` reads of B sources (as groups; beams are rows).

        Args:
            encoded: an encoder's output for one group, `[1, B, ...]`.

        Returns:
            The constants of `attend`, `[B, 1, ...]`. The annotations, which
            `attend` treats as a weight, are `[B, S, D]`, and "score" is
            `[1, 1, A]`.
        """
        attended = self.attention(encoded["annotations"], encoded["mask"])
        return {
            "annotations": attended["annotations"][0],
            "keys": attended["keys"][0][:, None],
            "score": tf.reshape(self.attention.score.value, [1, 1, -1]),
            "real": attended["real"][0][:, None],
        }

    def advance(self, tokens, hidden, memory):
        """One step for every hypothesis of every source.

        Args:
            tokens: int32 `[B, K]`, y_(t-1).
            hidden: s_(t-1), `[B, K, H]`.
            memory: the memory of the B sources, see `memory`.

        Returns:
            s_t `[B, K, H]`, the output layer's input `[B, K, R]`, and the
            attention `[B, K, S]`.
        """
        weights = self._weights()
        embedded = self.embedding(tokens)
        inputs = gru_inputs(embedded, weights)
        ops = Operations(weights | dict(memory), memory)
        state = _step(ops, inputs, {"hidden": hidden})
        read = [state["hidden"], embedded, state["context"]]
        return state["hidden"], self._read_out(read), ops.emitted["attention"]

    def _weights(self) -> dict[str, tf.Tensor]:
        """The weights of the recurrence, by the names that its step uses."""
        kernel = self.cast(self.kernel.value)
        embedding = self.embedding.dimension
        query = self.attention.query.value
        weights = {
            "kernel": kernel[:embedding],
            "context": kernel[embedding:],
            "recurrent": self.cast(tf.concat([query, self.recurrent], 1)),
            "candidate": self.cast(self.candidate.value),
        }
        if self.use_bias:
            weights["bias"] = tf.convert_to_tensor(self.bias.value)
        return weights

    def _no_context(self, encoded):
        annotations = encoded["annotations"]
        return tf.cast(tf.zeros_like(annotations[:, :, 0]), tf.float32)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.embedding.vocabulary_size,
            "embedding_dim": self.embedding.dimension,
            "units": self.units,
            "attention_units": self.attention.units,
            "readout_units": self.readout_units,
            "bias": self.use_bias,
            "dropout": dict(self.dropout),
            "label_smoothing": self.output_layer.label_smoothing,
            "samples": self.output_layer.samples,
        }


def _shifted(target: tf.Tensor) -> tf.Tensor:
    """The previous tokens: the start token's id, then all but the last."""
    begin = tf.fill(tf.shape(target[:, :, :1]), BOS)
    return tf.concat([begin, target[:, :, :-1]], -1)
