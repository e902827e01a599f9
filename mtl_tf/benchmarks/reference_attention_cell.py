"""The decoder's recurrence as a `keras.layers.RNN` cell, for comparison."""

import keras
import tensorflow as tf


class AttentionGRUCell(keras.layers.Layer):
    """Equations 3 to 7 of Dong et al. (2015) as a Keras user would write it.

    Args:
        units: size H of the state.
        attention_units: size A of the alignment's hidden layer.

    Input shape: embedded tokens `[B, E]`. `look_at` is called before each
        sequence.
    Output shape: s_t and c_t concatenated, `[B, H + D]`.
    """

    def __init__(self, units: int, attention_units: int, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units
        self.attention_units = attention_units

    def set_weights_of(self, decoder) -> None:
        """Copies the weights of an `AttentionDecoder`."""
        attention = decoder.attention
        weights = {
            "kernel": decoder.kernel,
            "recurrent": decoder.recurrent,
            "candidate": decoder.candidate,
            "bias": decoder.bias,
            "query": attention.query,
            "attention_kernel": attention.kernel,
            "attention_bias": attention.bias,
            "score": attention.score,
        }
        for name, weight in weights.items():
            copy = self.add_weight(name=name, shape=weight.shape)
            copy.assign(weight)
            setattr(self, name, copy)
        self.output_size = self.units + attention.kernel.shape[0]
        self.built = True

    def look_at(self, annotations: tf.Tensor, mask: tf.Tensor) -> None:
        """Sets the annotations `[B, S, D]` and their mask; makes their keys."""
        self._annotations, self._mask = annotations, mask
        self._keys = tf.matmul(annotations, self.attention_kernel)
        self._keys += self.attention_bias

    def call(self, inputs, states):
        """A step."""
        [hidden] = states
        query = tf.matmul(hidden, self.query)[:, None]
        scores = tf.matmul(tf.tanh(query + self._keys), self.score)[..., 0]
        scores = tf.where(self._mask, scores, -1e9)
        weights = tf.nn.softmax(scores)[..., None]
        context = tf.reduce_sum(weights * self._annotations, 1)
        read = tf.concat([inputs, context], -1)
        a = tf.matmul(read, self.kernel) + self.bias
        gates = a[:, : 2 * self.units] + tf.matmul(hidden, self.recurrent)
        z, r = tf.split(tf.sigmoid(gates), 2, -1)
        new = a[:, 2 * self.units :] + tf.matmul(r * hidden, self.candidate)
        hidden = (1.0 - z) * hidden + z * tf.tanh(new)
        return tf.concat([hidden, context], -1), [hidden]
