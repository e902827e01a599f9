"""The Meta-LSTM: a small LSTM generates another one's weights, per token."""

import functools

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import choose
from mtl_tf.layers.recurrent.gated_layer import GatedLayer
from mtl_tf.layers.recurrent.lstm import (
    forget_offset,
    lstm_gates,
    time_product,
    zero_state,
)
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.steps import Operations, Tensors


def _step(
    ops: Operations, inputs: Tensors, state: Tensors, *, forget_bias: float
) -> Tensors:
    """Equations 15 to 18, then 10 to 12 of Chen et al. (2018).

    W(z) is never formed: `W(z) [x; h] = P (z * (Q [x; h]))`. The bias `B z` is
    part of the product with P: `[z * q; z] [P; B]`.
    """
    joint = tf.concat([state["meta_hidden"], state["hidden"]], -1)
    a = inputs["joint"] + ops.matmul(joint, "recurrent")
    meta_gates = 4 * state["meta_memory"].shape[-1]
    a, q = tf.split(a, [meta_gates, a.shape[-1] - meta_gates], -1)
    meta_memory, meta_hidden = lstm_gates(ops, a, state["meta_memory"])
    z = ops.matmul(meta_hidden, "vector")
    ops.emit("meta_vector", z)
    # Four products and activations of one gate each. Joining the gates would
    # cost more copies in the backward loop than it saves calls.
    i, f, o, g = (
        ops.matmul(tf.concat([part * z, z], -1), f"generator_{k}")
        for k, part in enumerate(tf.split(ops.keep(q), 4, axis=-1))
    )
    # When compiled, adding zero would change the bits of the result.
    f = f + forget_bias if forget_bias else f
    i, f, o = ops.sigmoid(i), ops.sigmoid(f), ops.sigmoid(o)
    memory = ops.tanh(g) * i + state["memory"] * f
    hidden = o * ops.tanh(memory)
    return {
        "hidden": hidden,
        "memory": memory,
        "meta_hidden": meta_hidden,
        "meta_memory": meta_memory,
    }


def _project(x: tf.Tensor, weights: Tensors) -> Tensors:
    return {"joint": time_product(x, weights["kernel"]) + weights["bias"]}


def _beside(shared: keras.Variable, of_groups: tf.Tensor) -> tf.Tensor:
    """`[G, K, M + N]` of `[K, M]` for all groups and `[G, K, N]`."""
    shape = tf.concat([tf.shape(of_groups)[:1], shared.shape], 0)
    spread = tf.broadcast_to(shared.value, shape)
    spread = tf.ensure_shape(spread, of_groups.shape[:1] + shared.shape)
    return tf.concat([spread, of_groups], -1)


@keras.saving.register_keras_serializable(package="mtl_tf")
class MetaLSTM(GatedLayer):
    """A Meta-LSTM in one direction; with several tasks, Meta-MTL.

    Equations 10 to 18, 21 and 22 of Chen et al. (2018). All tasks share the
    meta network, an LSTM of size m that reads `[x_t; hhat_(t-1); h_(t-1)]` and
    emits `z_t = W_z hhat_t`. Every task has its own basic network, an LSTM
    whose gates are, for g in (i, f, o, c),
    `P_g (z_t * (Q_g [x_t; h_(t-1)])) + B_g z_t`. Q has the width of `[x; h]`,
    as equation 10 and the paper's Table 3 need, not of x alone, as its text
    counts.

    Our addition: z_t is near zero at the start. Without a bias the basic
    network's forget gate would then be sigmoid(0), and its memory would halve
    at every token. All of its bias B_f z_t is scaled by z_t, so `forget_bias`
    is added to that gate's value of equation 10 as a constant, not a parameter.
    The meta network has a normal bias, whose initial value includes it. 0 is
    the paper's form.

    Args:
        units: size h of the basic network.
        meta_units: size m of the meta network.
        meta_vector: size z of the meta vector.
        tasks: number of tasks.
        reverse: from the last token to the first.
        forget_bias: of both networks' forget gates; see above and
            `lstm.forget_offset`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the state "hidden" after the
        last real token `[G, B, h]`, the requested sequences, and with `inspect`
        the emission "meta_vector" `[G, B, T, z]`.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros.

    Example:
        ```python
        layer = MetaLSTM(100, 40, 40, tasks=16)
        summary = layer(x, mask, task).state["hidden"]
        ```
    """

    def __init__(
        self,
        units: int,
        meta_units: int,
        meta_vector: int,
        tasks: int = 1,
        **kwargs,
    ):
        tasks = checks.positive_integer("tasks", tasks)
        super().__init__(units, tasks, **kwargs)
        self.meta_units = checks.positive_integer("meta_units", meta_units)
        self.meta_vector = checks.positive_integer("meta_vector", meta_vector)
        step = functools.partial(_step, forget_bias=self.forget_bias)
        self._recurrence = Recurrence(step, _project)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        features, h = input_shape[-1], self.units
        m, z = self.meta_units, self.meta_vector
        self.meta_kernel = self.add("meta_kernel", features, 4 * m, gates=4)
        self.meta_recurrent = self.add("meta_recurrent", m + h, 4 * m, gates=4)
        self.meta_bias = self.add("meta_bias", 4 * m)
        offset = forget_offset(self.forget_bias, m)
        self.meta_bias.assign(self.meta_bias + offset)
        self.vector_kernel = self.add("vector_kernel", m, z)
        tasks = (self.tasks,)
        gates = (self.tasks, 4)
        self.factor_kernel = self.add(
            "factor_kernel", features, 4 * z, stack=tasks, gates=4
        )
        self.factor_recurrent = self.add(
            "factor_recurrent", h, 4 * z, stack=tasks, gates=4
        )
        self.generator = self.add("generator", z, h, stack=gates)
        self.generator_bias = self.add("generator_bias", z, h, stack=gates)
        self.built = True

    def _weights(self, task) -> dict[str, tf.Tensor]:
        """The weights of the recurrence, for the groups' tasks.

        The meta network's matrices are concatenated with the task's Q,
        `[G, ...]`. One product with the inputs and one with the states then
        serve both.
        """
        hidden_only = tf.pad(
            choose(self.factor_recurrent, task),
            [[0, 0], [self.meta_units, 0], [0, 0]],
        )
        generator = tf.concat(
            [
                choose(self.generator, task),
                choose(self.generator_bias, task),
            ],
            axis=2,
        )
        weights = {
            "kernel": _beside(
                self.meta_kernel, choose(self.factor_kernel, task)
            ),
            "recurrent": _beside(self.meta_recurrent, hidden_only),
            "vector": self.vector_kernel.value,
        }
        # Unstacked instead of sliced: the gradient of a slice is a costly
        # padding.
        gates = enumerate(tf.unstack(generator, axis=1))
        weights |= {f"generator_{k}": gate for k, gate in gates}
        weights = {name: self.cast(w) for name, w in weights.items()}
        bias = tf.pad(self.meta_bias.value, [[0, 4 * self.meta_vector]])
        return weights | {"bias": bias}

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        sizes = {
            "hidden": self.units,
            "memory": self.units,
            "meta_hidden": self.meta_units,
            "meta_memory": self.meta_units,
        }
        return self._recurrence(
            x,
            mask,
            self._weights(task),
            zero_state(x, **sizes),
            reverse=self.reverse,
            training=training,
            sequences=("hidden",) if sequence or inspect else (),
            emits=("meta_vector",) if inspect else (),
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "meta_units": self.meta_units,
            "meta_vector": self.meta_vector,
        }
