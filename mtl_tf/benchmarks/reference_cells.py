"""A slow reference: the Meta-LSTM as a cell for `keras.layers.RNN`.

This is what a Keras user would write first, and the baseline for the fast form.
The library does not use it for anything else.
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
        forget_bias: a constant of the basic network's forget gate.

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
        forget_bias: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.meta_units = meta_units
        self.meta_vector = meta_vector
        self.tasks = tasks
        self.forget_bias = forget_bias
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
        gates[1] += self.forget_bias
        hidden, memory = _update(gates, memory)
        return hidden, [hidden, memory, meta_hidden, meta_memory]

    def get_config(self):
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "meta_units": self.meta_units,
            "meta_vector": self.meta_vector,
            "tasks": self.tasks,
            "forget_bias": self.forget_bias,
        }


def _update(gates, memory):
    """Equations 3 and 4: gates in the order i, f, o, g."""
    i, f, o, g = gates
    memory = tf.tanh(g) * tf.sigmoid(i) + memory * tf.sigmoid(f)
    return tf.sigmoid(o) * tf.tanh(memory), memory
