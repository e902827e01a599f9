"""Slow references: Meta-LSTM and ME-LSTM as cells for `keras.layers.RNN`.

They are what a Keras user would write first, and the baselines that the fast
forms are measured against. Nothing in the library uses them otherwise.
"""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="mtl_tf")
class MetaLSTMCell(keras.layers.Layer):
    """One step of the Meta-LSTM (Chen et al. 2018, equations 10 to 18).

    The basic network's parameters are stacked per task; `choose` selects them.

    Args:
        units: size h of the basic network's hidden state.
        meta_units: size m of the meta network's hidden state.
        meta_vector: size z of the meta vector.
        tasks: number of tasks.

    Input shape: `[batch, features]` and the four states.
    Output shape: `[batch, units]` and the four states.
    Masking: none of its own; `keras.layers.RNN` applies the mask.

    Example:
        ```python
        cell = MetaLSTMCell(100, 40, 40, tasks=16)
        layer = keras.layers.RNN(cell)
        layer.build([None, None, 200])
        cell.choose(tf.constant(3))
        summary = layer(embedded, mask=mask)
        ```
    """

    def __init__(
        self,
        units: int,
        meta_units: int,
        meta_vector: int,
        tasks: int,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.meta_units = meta_units
        self.meta_vector = meta_vector
        self.tasks = tasks
        self.state_size = [units, units, meta_units, meta_units]
        self.output_size = units
        self._chosen = None

    def build(self, input_shape):
        """Makes the weights for inputs `[batch, features]`."""
        features, h = input_shape[-1], self.units
        m, z = self.meta_units, self.meta_vector
        self.meta_kernel = self._weight("meta_kernel", features + m + h, 4 * m)
        self.meta_bias = self._weight("meta_bias", 4 * m)
        self.vector_kernel = self._weight("vector_kernel", m, z)
        self.inner = self._weight("inner", self.tasks, features + h, 4 * z)
        self.outer = self._weight("outer", self.tasks, 4, z, h)
        self.bias = self._weight("bias", self.tasks, 4, z, h)
        self.built = True

    def _weight(self, name, *shape):
        return self.add_weight(
            name=name, shape=shape, initializer="random_uniform"
        )

    def choose(self, task: tf.Tensor) -> None:
        """Selects the parameters of `task`, once for all steps."""
        self._chosen = tuple(
            tf.gather(weight, task)
            for weight in (self.inner, self.outer, self.bias)
        )

    def call(self, x, states, training=None):
        """One step; see the class."""
        hidden, memory, meta_hidden, meta_memory = states
        joint = tf.concat([x, meta_hidden, hidden], -1)
        a = tf.matmul(joint, self.meta_kernel) + self.meta_bias
        meta_hidden, meta_memory = _update(tf.split(a, 4, -1), meta_memory)
        z = tf.matmul(meta_hidden, self.vector_kernel)
        inner, outer, bias = self._chosen
        factors = tf.matmul(tf.concat([x, hidden], -1), inner)
        gates = [
            tf.matmul(z * factor, outer[k]) + tf.matmul(z, bias[k])
            for k, factor in enumerate(tf.split(factors, 4, -1))
        ]
        hidden, memory = _update(gates, memory)
        return hidden, [hidden, memory, meta_hidden, meta_memory]

    def get_config(self):
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "meta_units": self.meta_units,
            "meta_vector": self.meta_vector,
            "tasks": self.tasks,
        }


def _update(gates, memory):
    """Equations 3 and 4: gates in the order i, f, o, g."""
    i, f, o, g = gates
    memory = tf.tanh(g) * tf.sigmoid(i) + memory * tf.sigmoid(f)
    return tf.sigmoid(o) * tf.tanh(memory), memory


@keras.saving.register_keras_serializable(package="mtl_tf")
class MELSTMCell(keras.layers.Layer):
    """One step of the ME-LSTM (Liu et al. 2016, equations 5 to 13).

    Its memory is aligned by cosine.

    Args:
        units: size H of the hidden state.
        memory_slots: number of segments K of the memory.
        memory_width: size M of a segment.

    Input shape: `[batch, features]` and the states: h, c, the memory
        `[batch, K, M]` and the key.
    Output shape: `[batch, units]` and the states.
    Masking: none of its own; `keras.layers.RNN` applies the mask.

    Example:
        ```python
        layer = keras.layers.RNN(MELSTMCell(100, 50, 20))
        summary = layer(embedded, mask=mask)
        ```
    """

    def __init__(
        self, units: int, memory_slots: int, memory_width: int, **kwargs
    ):
        super().__init__(**kwargs)
        self.units = units
        self.memory_slots = memory_slots
        self.memory_width = memory_width
        memory = (memory_slots, memory_width)
        self.state_size = [units, units, memory, memory_width]
        self.output_size = units

    def build(self, input_shape):
        """Makes the weights for inputs `[batch, features]`."""
        features, h = input_shape[-1], self.units
        k, m = self.memory_slots, self.memory_width
        self.kernel = self._weight("kernel", features + h, 4 * h)
        self.bias = self._weight("bias", 4 * h)
        self.fusion_read = self._weight("fusion_read", m, 2 * h)
        self.fusion_memory = self._weight("fusion_memory", h, h)
        self.keys = self._weight("keys", h, 3 * m)
        self.keys_bias = self._weight("keys_bias", 3 * m)
        self.initial = self._weight("initial", k, m)
        self.built = True

    def _weight(self, name, *shape):
        return self.add_weight(
            name=name, shape=shape, initializer="random_uniform"
        )

    def get_initial_state(self, batch_size):
        """Zeros, the initial memory and the key that zeros emit."""
        zeros = tf.zeros([batch_size, self.units])
        memory = tf.repeat(self.initial.value[None], batch_size, 0)
        key = tf.tanh(self.keys_bias[: self.memory_width])
        return [zeros, zeros, memory, tf.repeat(key[None], batch_size, 0)]

    def call(self, x, states, training=None):
        """One step; see the class."""
        hidden, inner, memory, key = states
        alpha = tf.nn.softmax(_cosine(memory, key))
        read = tf.einsum("bk,bkm->bm", alpha, memory)
        joint = tf.concat([x, hidden], -1)
        a = tf.matmul(joint, self.kernel) + self.bias
        i, f, o, g = tf.split(a, 4, -1)
        inner = tf.tanh(g) * tf.sigmoid(i) + inner * tf.sigmoid(f)
        value, gate = tf.split(tf.matmul(read, self.fusion_read), 2, -1)
        gate = tf.sigmoid(gate + tf.matmul(inner, self.fusion_memory))
        hidden = tf.sigmoid(o) * tf.tanh(inner + gate * value)
        a = tf.matmul(hidden, self.keys) + self.keys_bias
        key, add, erase = tf.split(a, 3, -1)
        erased = tf.einsum("bk,bm->bkm", alpha, tf.sigmoid(erase))
        added = tf.einsum("bk,bm->bkm", alpha, tf.tanh(add))
        memory = memory * (1 - erased) + added
        return hidden, [hidden, inner, memory, tf.tanh(key)]

    def get_config(self):
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "memory_slots": self.memory_slots,
            "memory_width": self.memory_width,
        }


def _cosine(memory, key):
    """Of `[batch, K, M]` and `[batch, M]`; 0 where the key is zero."""
    square = tf.reduce_sum(key * key, -1, keepdims=True)
    # l2_normalize has gradients in the millions where a key is zero.
    real = square > 1e-12
    key = tf.where(real, key * tf.math.rsqrt(tf.where(real, square, 1.0)), 0.0)
    return tf.einsum("bkm,bm->bk", tf.math.l2_normalize(memory, -1), key)
