"""A long short-term memory, shared by all tasks or stacked per task."""


import tensorflow as tf



from mtl_tf.layers.recurrence import Recurrence, Result
from mtl_tf.layers.steps import Operations, Tensors, product


def lstm_gates(
    ops: Operations, a: tf.Tensor, memory: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """The new memory and hidden state from the gates' pre-activations.

    Equations 3 and 4 of Chen et al. (2018): `c' = g * i + c * f` and
    `h' = o * tanh(c')`.

    Args:
        ops: the step's operations.
        a: `[..., 4 * units]`, in the order input gate i, forget gate f,
            output gate o, candidate g.
        memory: c, `[..., units]`.

    Returns:
        `(c', h')`, each `[..., units]`.
    """
    units = memory.shape[-1]
    gates = ops.sigmoid(a[..., : 3 * units])
    i, f, o = tf.split(gates, 3, axis=-1)
    memory = ops.tanh(a[..., 3 * units :]) * i + memory * f
    return memory, o * ops.tanh(memory)


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    a = inputs["gates"] + ops.matmul(state["hidden"], "recurrent")
    memory, hidden = lstm_gates(ops, a, state["memory"])
    return {"hidden": hidden, "memory": memory}


def _project(x: tf.Tensor, weights: Tensors) -> Tensors:
    gates = time_product(x, weights["kernel"])
    bias = weights["bias"]
    if bias.shape.rank == 2:
        bias = bias[:, None]
    return {"gates": tf.cast(gates, tf.float32) + bias}


def time_product(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
    """Multiplies all steps' inputs with a shared or stacked weight.

    Args:
        x: `[T, G, B, K]`.
        weight: `[K, N]`, or `[G, K, N]`.

    Returns:
        `[T, G, B, N]`, in the dtype of `weight`.
    """
    if weight.shape.rank == 2:
        return product(x, weight)
    if weight.shape[0] == 1:
        return product(x, weight[0])
    return tf.einsum("tgbk,gkn->tgbn", tf.cast(x, weight.dtype), weight)
