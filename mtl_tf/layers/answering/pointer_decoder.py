"""The multi-pointer-generator: generates words or copies from two texts."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import OOV
from mtl_tf.layers.answering import pointer_mixture
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.beam_search import Candidates
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.products import product
from mtl_tf.layers.recurrent.lstm import (
    forget_offset,
    lstm_gates,
    project_gates,
)
from mtl_tf.layers.recurrent.recurrence import Recurrence, on_tpu
from mtl_tf.layers.recurrent.steps import Operations, Tensors
from mtl_tf.layers.softmax_output import SoftmaxOutput
from mtl_tf.layers.top_k import top_k

_BLOCKED = 1e9


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    """h_t and c~_t: equations 7 to 9 of McCann et al. (2018)."""
    real = tf.stop_gradient(ops.constants["real"])
    fed = tf.concat([state["context"], state["hidden"]], -1)
    a = inputs["gates"] + ops.matmul(fed, "recurrent")
    memory, hidden = lstm_gates(ops, a, state["memory"])
    query = ops.matmul(hidden, "context_query")
    scores = ops.matmul(query, "context_keys")
    weights = ops.softmax(scores + (real - 1.0) * _BLOCKED) * real
    read = ops.matmul(weights, "context_values")
    a = ops.matmul(tf.concat([read, hidden], -1), "context_output")
    return {"hidden": hidden, "memory": memory, "context": ops.tanh(a)}


@keras.saving.register_keras_serializable(package="mtl_tf")
class PointerDecoder(StackedLayer):
    """An LSTM that generates words or copies them from two texts.

    McCann et al. (2018), equations 7 to 13. The state h_t reads the answer's
    representation (A_self)_(t-1) and the context state c~_(t-1), and attends to
    context and question. Two switches mix three distributions: to generate, to
    copy from the context and to copy from the question:
    `p = g p_v + (1 - g) (l p_c + (1 - l) p_q)`.

    Ids below `vocabulary_size` are the generative vocabulary. An example's
    other words have their own ids from there on, the same in context, question
    and answer. In training only the targets' shares of these distributions are
    computed: no tensor has an axis of the extended vocabulary. Losses are
    computed in logarithms, so that a vanishing share keeps its gradient.

    Only h_t and c~_t are computed in the loop. The attention to the question,
    the switches and the output layer are one product each for all steps, the
    latter for real words only. Dropout is applied to the inputs of the loop and
    of the output layer, but not to the c~_(t-1) that is fed back.

    Args:
        vocabulary_size: number of words of the generative vocabulary, v.
        units: size D of all states.
        question: whether words are also copied from the question. If not,
            `p = g p_v + (1 - g) p_c`.
        dropout: rate of dropout on inputs and outputs.
        forget_bias: see `lstm.forget_offset`.
        init: see `base.check_init`.

    Input shape: answers `[G, B, U, D]`, for each position the representation of
        the words before it; targets int32 `[G, B, U]`, 0 is padding; and texts:
        "context" `[G, B, L, D]`, "context_mask" bool and "context_ids" int32
        `[G, B, L]`, and "question", "question_mask", "question_ids" with M.
    Output shape: "losses" float32 `[G, B, U]`, the negative log-likelihoods,
        and if requested "sources" `[G, B, U, 3]`, see
        `pointer_mixture.sources`.
    Masking: padding of all three texts changes nothing; its losses are 0.

    Example:
        ```python
        decoder = PointerDecoder(50_000, 200)
        loss = tf.reduce_sum(decoder(answers, target, texts)["losses"], -1)
        ```
    """

    def __init__(
        self,
        vocabulary_size: int,
        units: int,
        question: bool = True,
        dropout: float = 0.0,
        forget_bias: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.question = checks.boolean("question", question)
        self.dropout = checks.fraction("dropout", dropout)
        self.forget_bias = checks.not_negative("forget_bias", forget_bias)
        self.output_layer = SoftmaxOutput(
            vocabulary_size,
            bias=False,
            name=f"{self.name}_output",
            init=self.init,
            dtype=self.dtype_policy,
        )
        self.input_dropout = Dropout(dropout, salt=f"{self.name}_input")
        self.output_dropout = Dropout(dropout, salt=f"{self.name}_output")
        self._recurrence = Recurrence(_step, project_gates)

    def build(self, *_):
        """Makes the weights."""
        size = self.units
        self.output_layer.build((None, size))
        self.kernel = self.add("kernel", size, 4 * size, gates=4)
        self.recurrent = self.add("recurrent", 2 * size, 4 * size, gates=4)
        self.bias = self.add("bias", 4 * size)
        self.bias.assign(self.bias + forget_offset(self.forget_bias, size))
        self.context_query = self.add("context_query", size, size)
        self.context_output = self.add("context_output", 2 * size, size)
        self.generate = self.add("generate", 3 * size, 1)
        if self.question:
            self.question_query = self.add("question_query", size, size)
            self.question_output = self.add("question_output", 2 * size, size)
            self.copy_context = self.add("copy_context", 3 * size, 1)
        self.built = True

    def call(
        self,
        answers,
        target,
        texts,
        training: bool = False,
        seed=None,
        inspect: bool = False,
    ) -> dict:
        """Scores given targets; `seed` int32 `[2]` is for dropout."""
        mask = tf.not_equal(target, 0)
        answers = self.input_dropout(
            self.cast(answers), training=training, seed=seed
        )
        zeros = tf.zeros_like(answers[:, :, 0], tf.float32)
        values = self.cast(texts["context"])
        sequences = self._recurrence(
            answers,
            mask,
            self._weights(),
            dict.fromkeys(("hidden", "memory", "context"), zeros),
            {
                "context_keys": tf.linalg.matrix_transpose(values),
                "context_values": values,
                "real": tf.cast(texts["context_mask"], tf.float32),
            },
            training=training,
            sequences=("hidden", "context"),
        ).sequences
        mixture = self._mixture(sequences, answers, texts)
        copied = pointer_mixture.copied(mixture, texts, target)
        vocabulary = self._of_vocabulary(
            sequences["context"], target, mask, training, seed
        )
        generate = mixture["generate"]
        log_p = pointer_mixture.log_sum(
            tf.math.log_sigmoid(generate) + vocabulary,
            tf.math.log_sigmoid(-generate)
            + tf.math.log(tf.maximum(copied, pointer_mixture.NOTHING)),
        )
        result = {"losses": tf.where(mask, -log_p, 0.0)}
        if inspect:
            result["sources"] = pointer_mixture.sources(
                mixture,
                texts,
                target,
                log_p,
                self.output_layer.vocabulary_size,
            )
        return result

    @property
    def pointers(self) -> tuple[str, ...]:
        """Names of the texts from which words are copied."""
        return ("context", "question") if self.question else ("context",)

    def reachable(self, target: tf.Tensor, texts) -> tf.Tensor:
        """The targets, with OOV for words that cannot be generated or copied.

        Args:
            target: int32 `[G, B, U]`.
            texts: see `call`.
        """
        is_reachable = target < self.output_layer.vocabulary_size
        for name in self.pointers:
            is_copy = tf.equal(
                target[..., None], texts[f"{name}_ids"][:, :, None]
            )
            is_reachable |= tf.reduce_any(is_copy, -1)
        return tf.where(is_reachable, target, OOV)

    def start(self, rows: tf.Tensor, beams: int = 1) -> dict[str, tf.Tensor]:
        """The state before the first word of `rows` answers, `[B, K, D]`."""
        zeros = tf.zeros(tf.stack([rows, beams, self.units]))
        return dict.fromkeys(("hidden", "memory", "context"), zeros)

    def advance(self, answers, state, texts):
        """One step for every hypothesis of every example.

        Args:
            answers: the representation of the words so far, `[B, K, D]`.
            state: see `start`.
            texts: as in the call, for one group without its axis: "context"
                `[B, L, D]` and so on.

        Returns:
            The new state, and the mixture that `candidates` reads.
        """
        answers, values = self.cast(answers), self.cast(texts["context"])
        real = tf.cast(texts["context_mask"], tf.float32)[:, None]
        # Examples are groups here, and their texts are the weights of the
        # group.
        weights = self._weights() | {
            "context_keys": tf.linalg.matrix_transpose(values),
            "context_values": values,
        }
        ops = Operations(weights, {"real": real})
        a = tf.cast(product(answers, weights["kernel"]), tf.float32)
        inputs = {"gates": a + weights["bias"]}
        state = _step(ops, inputs, state)
        mixture = self._mixture(state, answers, texts)
        return state, mixture | {"state": state["context"]}

    def candidates(
        self,
        mixture,
        ids: tf.Tensor,
        first: tf.Tensor,
        count: int,
    ) -> Candidates:
        """The most probable words of the extended vocabulary (equation 13).

        Copying only adds to a word's share. So the best words are among those
        that the texts have and the best that are generated.

        Args:
            mixture: the second result of `advance` for N hypotheses, without
                their axis: "state" `[N, D]` and so on.
            ids: the words at all places of the texts of `pointers`, int32
                `[N, S]`.
            first: see `pointer_mixture.first_places`.
            count: at least this many of the best words are candidates.

        Returns:
            Candidates `[N, count + S]`.
        """
        logits = self.output_layer.logits(mixture["state"])
        generate = tf.math.log_sigmoid(mixture["generate"])
        scale = (generate - tf.reduce_logsumexp(logits, -1))[:, None]
        size = self.output_layer.vocabulary_size
        best, best_ids = top_k(logits, min(count, size))
        of_texts = tf.gather(logits, tf.minimum(ids, size - 1), batch_dims=1)
        of_texts = tf.where(ids < size, of_texts + scale, -_BLOCKED)
        shares = pointer_mixture.shares(mixture)
        copied = [
            shares[..., number, None] * mixture[name]
            for number, name in enumerate(self.pointers, 1)
        ]
        return pointer_mixture.with_copied(
            Candidates(best + scale, best_ids),
            Candidates(of_texts, ids),
            first,
            tf.concat(copied, -1),
        )

    def _mixture(self, state, answers, texts) -> dict[str, tf.Tensor]:
        """Attention weights by name of the text, and the switches' logits.

        States are `[..., U, D]`, texts `[..., L, D]`, weights `[..., U, L]` and
        logits `[..., U]`.
        """
        hidden, context = state["hidden"], state["context"]
        weights, _ = self._look(hidden, self.context_query, "context", texts)
        mixture = {
            "context": weights,
            "generate": self._switch(self.generate, context, hidden, answers),
        }
        if self.question:
            weights, read = self._look(
                hidden, self.question_query, "question", texts
            )
            read = self.cast(tf.concat([read, hidden], -1))
            read = product(read, self.cast(self.question_output.value))
            question = tf.tanh(tf.cast(read, tf.float32))
            mixture["question"] = weights
            mixture["copy_context"] = self._switch(
                self.copy_context, question, hidden, answers
            )
        return mixture

    def _look(self, hidden, query, name, texts):
        """Equation 8: weights `[..., U, L]`, and the weighted sums."""
        values, mask = self.cast(texts[name]), texts[f"{name}_mask"]
        projected = product(self.cast(hidden), self.cast(query.value))
        scores = tf.matmul(projected, values, transpose_b=True)
        real = tf.cast(mask, tf.float32)[..., None, :]
        scores = tf.cast(scores, tf.float32) + (real - 1.0) * _BLOCKED
        weights = tf.nn.softmax(scores) * real
        summary = tf.matmul(self.cast(weights), values)
        return weights, tf.cast(summary, tf.float32)

    def _switch(self, weight, state, hidden, answers):
        """The logits of a switch of equation 12, `[..., U]`."""
        read = [state, hidden, tf.cast(answers, tf.float32)]
        read = self.cast(tf.concat(read, -1))
        a = product(read, self.cast(weight.value))[..., 0]
        return tf.cast(a, tf.float32)

    def _of_vocabulary(self, states, target, mask, training, seed):
        """`log p_v` of the targets `[G, B, U]` (equation 11)."""
        size, shape = self.output_layer.vocabulary_size, tf.shape(mask)
        states = tf.reshape(states, [-1, self.units])
        flat, positions = tf.reshape(target, [-1]), None
        if not on_tpu():
            # The output layer is most of the work, so it skips padding.
            positions = tf.where(tf.reshape(mask, [-1]))[:, 0]
            states, flat = (tf.gather(x, positions) for x in (states, flat))
        states = self.output_dropout(
            self.cast(states), training=training, seed=seed
        )
        is_own_word = flat >= size
        losses = self.output_layer(states, tf.where(is_own_word, 0, flat))
        log_p = tf.where(is_own_word, -_BLOCKED, -losses)
        if positions is not None:
            log_p = tf.scatter_nd(
                positions[:, None], log_p, tf.size(mask, tf.int64)[None]
            )
        return tf.reshape(log_p, shape)

    def _weights(self) -> dict[str, tf.Tensor]:
        """The weights of the recurrence, by the names that its step uses."""
        names = ("kernel", "recurrent", "context_query", "context_output")
        weights = {n: self.cast(getattr(self, n).value) for n in names}
        return weights | {"bias": tf.convert_to_tensor(self.bias.value)}

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.output_layer.vocabulary_size,
            "units": self.units,
            "question": self.question,
            "dropout": self.dropout,
            "forget_bias": self.forget_bias,
        }
