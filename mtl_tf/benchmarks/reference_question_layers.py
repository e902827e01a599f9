"""The MQAN's parts in Keras's own layers, for comparison."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.layers.answering.coattention import DualCoattention
from mtl_tf.layers.answering.pointer_decoder import PointerDecoder
from mtl_tf.layers.answering.self_attentive_encoder import (
    BidirectionalLSTM,
    SelfAttentiveEncoder,
)
from mtl_tf.layers.attention.self_attention import SelfAttention
from mtl_tf.layers.feed_forward import FeedForward

_NEVER = -1e9


def dense(kernel, bias=None, activation=None) -> keras.layers.Dense:
    """A dense layer with given weights."""
    layer = keras.layers.Dense(
        kernel.shape[1], activation, use_bias=bias is not None
    )
    layer.build((None, kernel.shape[0]))
    weights = [kernel] if bias is None else [kernel, bias]
    layer.set_weights([np.array(weight) for weight in weights])
    return layer


def _in_keras_order(weight) -> np.ndarray:
    """Reorders the gates i, f, o, g of an LSTM to i, f, g, o."""
    i, f, o, g = np.split(np.array(weight), 4, -1)
    return np.concatenate([i, f, g, o], -1)


def _norm(ours: keras.layers.LayerNormalization) -> keras.layers.Layer:
    layer = keras.layers.LayerNormalization(epsilon=ours.epsilon)
    layer.build((None, None, ours.gamma.shape[0]))
    layer.set_weights(ours.get_weights())
    return layer


def _attention(ours: SelfAttention) -> keras.layers.MultiHeadAttention:
    """The same attention in Keras, whose heads may have any width, too."""
    units, heads, width = ours.units, ours.heads, ours.head_units
    layer = keras.layers.MultiHeadAttention(
        heads, width, dropout=ours.dropout.rate, use_bias=False
    )
    layer.build((None, None, units), (None, None, units))
    maps = np.split(np.array(ours.kernel), 3, -1)
    query, key, value = (x.reshape(units, heads, width) for x in maps)
    output = np.array(ours.output_kernel).reshape(heads, width, units)
    weights = {
        layer.query_dense: query,
        layer.key_dense: key,
        layer.value_dense: value,
        layer.output_dense: output,
    }
    for part, weight in weights.items():
        part.set_weights([weight])
    return layer


def _feed_forward(ours: FeedForward) -> keras.layers.Layer:
    layer = keras.Sequential(
        [
            dense(ours.kernel, ours.bias, "relu"),
            keras.layers.Dropout(ours.dropout.rate),
            dense(ours.output_kernel, ours.output_bias),
        ]
    )
    layer.build((None, None, ours.kernel.shape[0]))
    return layer


def bidirectional(ours: BidirectionalLSTM) -> keras.layers.Layer:
    """LSTMs in both directions, with our weights."""
    layer = keras.layers.Bidirectional(
        keras.layers.LSTM(ours.units // 2, return_sequences=True)
    )
    layer.build((None, None, ours.forward.kernel.shape[0]))
    layer.set_weights(
        [
            _in_keras_order(weight)
            for direction in (ours.forward, ours.backward)
            for weight in (
                direction.kernel,
                direction.recurrent,
                direction.bias,
            )
        ]
    )
    return layer


class _Part(keras.layers.Layer):
    """A layer that gets its masks as arguments and passes none on."""

    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def compute_mask(self, *_):
        """None."""


class Coattention(_Part):
    """Equations 17 to 19, for both texts.

    Args:
        ours: the layer whose dummies are copied.
    """

    def __init__(self, ours: DualCoattention):
        super().__init__()
        self.dummies = []
        for dummy in (ours.context_dummy, ours.question_dummy):
            copied = self.add_weight(shape=dummy.shape)
            copied.assign(dummy)
            self.dummies.append(copied)
        self.built = True

    def call(self, texts: Sequence, masks: Sequence) -> list[tf.Tensor]:
        """Summary and coattended states of each text, concatenated."""
        rows = tf.shape(texts[0])[0]
        (c, c_mask), (q, q_mask) = (
            (
                tf.concat([tf.tile(dummy[None, None], [rows, 1, 1]), x], 1),
                tf.pad(mask, [[0, 0], [1, 0]], constant_values=True),
            )
            for x, mask, dummy in zip(texts, masks, self.dummies)
        )
        scores = tf.matmul(c, q, transpose_b=True)
        to_context = tf.where(c_mask[:, :, None], scores, _NEVER)
        to_question = tf.where(q_mask[:, None], scores, _NEVER)
        s_cq, s_qc = tf.nn.softmax(to_context, 1), tf.nn.softmax(to_question)
        c_sum = tf.matmul(s_cq, c, transpose_a=True)
        q_sum = tf.matmul(s_qc, q)
        c_coa = tf.matmul(s_qc, c_sum)
        q_coa = tf.matmul(s_cq, q_sum, transpose_a=True)
        return [
            tf.concat([x, y], -1)[:, 1:]
            for x, y in ((q_sum, c_coa), (c_sum, q_coa))
        ]


class Block(_Part):
    """A self-attention layer of an encoder or of the decoder.

    Args:
        ours: a `TransformerBlock`, or an `AnswerBlock`, which reads the context
            between its self-attention and its feed-forward network.
    """

    def __init__(self, ours: keras.layers.Layer):
        super().__init__()
        names = ["attention", "feed_forward"]
        if self_written := hasattr(ours, "own"):
            names = ["own", "context", "feed_forward"]
        self.causal = self_written
        self.parts, self.norms = {}, {}
        for name in names:
            copy = _feed_forward if name == "feed_forward" else _attention
            self.parts[name] = copy(getattr(ours, name))
            self.norms[name] = _norm(getattr(ours, f"{name}_norm"))
        self.dropout = keras.layers.Dropout(ours.dropout)
        self.built = True

    def call(self, x, mask, context=None, context_mask=None, training=False):
        """The block's outputs, for all positions of `x`."""
        attention = self.parts["own" if self.causal else "attention"]
        read = attention(
            x,
            x,
            attention_mask=mask[:, None],
            use_causal_mask=self.causal,
            training=training,
        )
        return self._rest(x, read, context, context_mask, training)

    def next_place(self, x, before, context, context_mask):
        """The output at the position after those in `before`, `[B, 1, D]`."""
        places = tf.concat([before, x], 1)
        read = self.parts["own"](x, places)
        return self._rest(x, read, context, context_mask, False), places

    def _rest(self, x, read, context, context_mask, training):
        x = self._joined(next(iter(self.parts)), x, read, training)
        if self.causal:
            read = self.parts["context"](
                x,
                context,
                attention_mask=context_mask[:, None],
                training=training,
            )
            x = self._joined("context", x, read, training)
        y = self.parts["feed_forward"](x, training=training)
        return self._joined("feed_forward", x, y, training)

    def _joined(self, part, x, y, training):
        return self.norms[part](x + self.dropout(y, training=training))


class Encoder(_Part):
    """Two bidirectional LSTMs, with self-attention between them.

    Args:
        ours: the layer whose weights are copied.
    """

    def __init__(self, ours: SelfAttentiveEncoder):
        super().__init__()
        self.first, self.final = map(bidirectional, (ours.first, ours.final))
        self.blocks = [Block(block) for block in ours.blocks]
        self.dropout = keras.layers.Dropout(ours.rate)
        self.built = True

    def call(self, x, mask, training=False):
        """The text's states `[B, T, D]`."""
        x = self.first(self.dropout(x, training=training), mask=mask)
        for block in self.blocks:
            x = block(x, mask, training=training)
        return self.final(self.dropout(x, training=training), mask=mask)


class PointerCell(_Part):
    """One step of the multi-pointer-generator (equations 7 to 10 and 12).

    Args:
        ours: the layer whose weights are copied.
    """

    def __init__(self, ours: PointerDecoder):
        super().__init__()
        size = self.units = ours.units
        self.lstm = keras.layers.LSTMCell(size)
        self.lstm.build((None, 2 * size))
        # The cell reads the answer and the context state as one input.
        kernels = [ours.kernel, ours.recurrent[:size]]
        weights = [np.concatenate(kernels), ours.recurrent[size:], ours.bias]
        self.lstm.set_weights([_in_keras_order(x) for x in weights])
        self.queries = {
            "context": dense(ours.context_query),
            "question": dense(ours.question_query),
        }
        self.outputs = {
            "context": dense(ours.context_output, activation="tanh"),
            "question": dense(ours.question_output, activation="tanh"),
        }
        self.generate = dense(ours.generate, activation="sigmoid")
        self.copy_context = dense(ours.copy_context, activation="sigmoid")
        self.built = True

    def call(self, x, state, texts, masks):
        """A step.

        Args:
            x: the representation of the answer so far, `[B, D]`.
            state: hidden state and memory of the LSTM, and the context state.
            texts: context and question by name, `[B, T, D]`.
            masks: their masks, bool `[B, T]`.

        Returns:
            A list of the context state `[B, D]`, the shares of vocabulary,
            context and question `[B, 3]` and the weights of both texts
            `[B, T]`; and the new state.
        """
        hidden, memory, context = state
        hidden, [_, memory] = self.lstm(
            tf.concat([x, context], -1), [hidden, memory]
        )
        weights, states = {}, {}
        for name, values in texts.items():
            query = self.queries[name](hidden)[:, None]
            scores = tf.reduce_sum(query * values, -1)
            scores = tf.where(masks[name], scores, _NEVER)
            weights[name] = tf.nn.softmax(scores)
            read = tf.reduce_sum(weights[name][..., None] * values, 1)
            states[name] = self.outputs[name](tf.concat([read, hidden], -1))
        context = states["context"]
        g = self.generate(tf.concat([context, hidden, x], -1))
        c = self.copy_context(tf.concat([states["question"], hidden, x], -1))
        shares = tf.concat([g, (1.0 - g) * c, (1.0 - g) * (1.0 - c)], -1)
        outputs = [context, shares, weights["context"], weights["question"]]
        return outputs, (hidden, memory, context)
