"""A long short-term memory, shared by all tasks or one per task."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.products import product
from mtl_tf.layers.recurrent.gated_layer import GatedLayer
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.steps import Operations, Tensors


def lstm_memory(
    ops: Operations, a: tf.Tensor, memory: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """The new memory and the output gate; see `lstm_gates`.

    Args:
        ops, a, memory: see `lstm_gates`.

    Returns:
        `(c', o)`, each `[..., units]`.
    """
    units = memory.shape[-1]
    # Split instead of slicing: the gradient of a slice is a costly padding.
    gates, candidate = tf.split(a, [3 * units, units], axis=-1)
    i, f, o = tf.split(ops.sigmoid(gates), 3, axis=-1)
    return ops.tanh(candidate) * i + memory * f, o


def lstm_gates(
    ops: Operations, a: tf.Tensor, memory: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """The new memory and hidden state from the gates' pre-activations.

    Equations 3 and 4 of Chen et al. (2018): `c' = g * i + c * f` and
    `h' = o * tanh(c')`.

    Args:
        ops: the step's operations.
        a: `[..., 4 * units]`, in the order input gate i, forget gate f, output
            gate o, candidate g.
        memory: c, `[..., units]`.

    Returns:
        `(c', h')`, each `[..., units]`.
    """
    memory, o = lstm_memory(ops, a, memory)
    return memory, o * ops.tanh(memory)


def forget_offset(forget_bias: float, units: int) -> tf.Tensor:
    """The vector that a forget bias adds to an LSTM's bias `[4 * units]`.

    With a forget bias, tokens far before the end of a text get a gradient; a
    gate that starts at sigmoid(0) halves it at every step. None of the papers
    here states one. Keras and TensorFlow's BasicLSTMCell start from 1.

    Args:
        forget_bias: bias of the forget gate, not negative.
        units: size of the state.

    Raises:
        ConfigError: `forget_bias` is negative or not a number.
    """
    checks.not_negative("forget_bias", forget_bias)
    return tf.repeat([0.0, float(forget_bias), 0.0, 0.0], units)


def time_product(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
    """Multiplies the inputs of all steps by a shared or stacked weight.

    Args:
        x: `[T, G, B, K]`.
        weight: `[K, N]`, or one per group, `[G, K, N]`.

    Returns:
        float32 `[T, G, B, N]`.
    """
    if weight.shape.rank == 3 and weight.shape[0] == 1:
        weight = weight[0]
    if weight.shape.rank == 2:
        return tf.cast(product(x, weight), tf.float32)
    x = tf.cast(x, weight.dtype)
    return tf.cast(tf.einsum("tgbk,gkn->tgbn", x, weight), tf.float32)


def project_gates(x: tf.Tensor, weights: Tensors) -> Tensors:
    """The inputs' contribution to the gates, "gates" `[T, G, B, 4 H]`.

    Args:
        x: `[T, G, B, D]`.
        weights: "kernel" `[..., D, 4 H]` and "bias" `[..., 4 H]`.
    """
    bias = weights["bias"]
    if bias.shape.rank == 2:
        bias = bias[:, None]
    return {"gates": time_product(x, weights["kernel"]) + bias}


def zero_state(x: tf.Tensor, **sizes: int) -> dict[str, tf.Tensor]:
    """Zeros `[G, B, size]` by name for inputs `[G, B, ...]`."""
    static = x.shape[:2]
    rows = static if static.is_fully_defined() else tf.shape(x)[:2]
    return {
        name: tf.ensure_shape(
            tf.zeros(tf.concat([rows, [size]], 0)), [*static, size]
        )
        for name, size in sizes.items()
    }


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    a = inputs["gates"] + ops.matmul(state["hidden"], "recurrent")
    memory, hidden = lstm_gates(ops, a, state["memory"])
    return {"hidden": hidden, "memory": memory}


@keras.saving.register_keras_serializable(package="mtl_tf")
class LSTM(GatedLayer):
    """A long short-term memory in one direction.

    Equations 2 to 5 of Chen et al. (2018), without peepholes:
    `[g, o, i, f] = [tanh, s, s, s](W [x_t; h_(t-1)] + b)`,
    `c_t = g * i + c_(t-1) * f`, `h_t = o * tanh(c_t)`.

    Args:
        units: size H of the hidden state.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked.
        reverse: from the last token to the first.
        forget_bias: added to the forget gate's initial bias; see
            `forget_offset`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the state "hidden" after the
        last real token `[G, B, H]`, and the requested sequences.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros.

    Example:
        ```python
        layer = LSTM(100)
        summary = layer(x, mask, task).state["hidden"]
        ```
    """

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        stack = (self.tasks,) if self.tasks else ()
        wide = 4 * self.units
        self.kernel = self.add(
            "kernel", input_shape[-1], wide, stack=stack, gates=4
        )
        self.recurrent = self.add(
            "recurrent", self.units, wide, stack=stack, gates=4
        )
        self.bias = self.add("bias", wide, stack=stack)
        offset = forget_offset(self.forget_bias, self.units)
        self.bias.assign(self.bias + offset)
        self._recurrence = Recurrence(_step, project_gates)
        self.built = True

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        weights = {
            "kernel": self.cast(self.of_task(self.kernel, task)),
            "recurrent": self.cast(self.of_task(self.recurrent, task)),
            "bias": tf.convert_to_tensor(self.of_task(self.bias, task)),
        }
        return self._recurrence(
            x,
            mask,
            weights,
            zero_state(x, hidden=self.units, memory=self.units),
            reverse=self.reverse,
            training=training,
            sequences=("hidden",) if sequence or inspect else (),
        )
