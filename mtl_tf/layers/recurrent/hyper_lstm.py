"""The HyperLSTM: a small LSTM scales the rows of another one's weights."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.recurrent.gated_layer import GatedLayer
from mtl_tf.layers.recurrent.lstm import (
    forget_offset,
    lstm_gates,
    project_gates,
    time_product,
    zero_state,
)
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.steps import Operations, Tensors

# Generated for each of the four gates: the scales of the recurrent and of the
# input products, and the bias.
_PARTS = 3


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    """The hyper cell, then the main cell with the generated values."""
    hidden = state["hidden"]
    joint = tf.concat([state["hyper_hidden"], hidden], -1)
    a = inputs["hyper"] + ops.matmul(joint, "hyper_recurrent")
    hyper_memory, hyper_hidden = lstm_gates(ops, a, state["hyper_memory"])
    d = ops.matmul(hyper_hidden, "modulation") + ops.constants["offset"]
    d_h, d_x, bias = tf.split(d, _PARTS, axis=-1)
    a = d_h * ops.matmul(hidden, "recurrent") + d_x * inputs["main"] + bias
    memory, hidden = lstm_gates(ops, a, state["memory"])
    return {
        "hidden": hidden,
        "memory": memory,
        "hyper_hidden": hyper_hidden,
        "hyper_memory": hyper_memory,
    }


def _project(x: tf.Tensor, weights: Tensors) -> Tensors:
    hyper = {"kernel": weights["hyper_kernel"], "bias": weights["hyper_bias"]}
    return {
        "hyper": project_gates(x, hyper)["gates"],
        "main": time_product(x, weights["kernel"]),
    }


@keras.saving.register_keras_serializable(package="mtl_tf")
class HyperLSTM(GatedLayer):
    """A HyperLSTM in one direction, without layer norm.

    Ha, Dai and Le (2016), "HyperNetworks", the HyperLSTM of the appendix. The
    hyper cell is an LSTM that reads `[x_t; h_(t-1)]`. For each gate y of the
    main cell, its state hhat_t yields three small embeddings. From these follow
    the scales of two products and a bias:

        z_h = W_zh hhat_t + b_zh,  d_h = W_dh z_h
        z_x = W_zx hhat_t + b_zx,  d_x = W_dx z_x
        z_b = W_zb hhat_t,         b   = W_db z_b + b_0
        y = d_h * (W_h h_(t-1)) + d_x * (W_x x_t) + b

    The rest is an LSTM's update. The paper prints hhat_(t-1); this layer takes
    hhat_t, as the authors' code does. Only z_h and z_x have biases, and only b
    has an offset b_0. With a head for two classes this form has 319,530
    parameters at D 200, both cells 100 and z 16; Chen et al. (2018) print 321K.

    At the start, 1 is added to the drawn b_zh and b_zx, and 1 / z to the drawn
    W_dh and W_dx. The scales are then near 1, and the main cell is near an
    LSTM. The paper starts scales at 0.1, which needs its layer norm.

    Args:
        units: size h of the main cell.
        hyper_units: size of the hyper cell.
        hyper_vector: size z of the embeddings.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked.
        reverse: from the last token to the first.
        forget_bias: added to the initial bias of both cells' forget gates; see
            `lstm.forget_offset`. The paper does not mention one.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the state "hidden" after the
        last real token `[G, B, h]`, and the requested sequences.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros.

    Example:
        ```python
        layer = HyperLSTM(100, 100, 16)
        summary = layer(x, mask, task).state["hidden"]
        ```
    """

    def __init__(
        self,
        units: int,
        hyper_units: int,
        hyper_vector: int,
        tasks: int = 0,
        **kwargs,
    ):
        super().__init__(units, tasks, **kwargs)
        self.hyper_units = checks.positive_integer("hyper_units", hyper_units)
        self.hyper_vector = checks.positive_integer(
            "hyper_vector", hyper_vector
        )
        self._recurrence = Recurrence(_step, _project)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        features, h = input_shape[-1], self.units
        m, z = self.hyper_units, self.hyper_vector
        gates = {
            "stack": (self.tasks,) if self.tasks else (),
            "gates": 4,
        }
        self.hyper_kernel = self.add("hyper_kernel", features, 4 * m, **gates)
        self.hyper_recurrent = self.add(
            "hyper_recurrent", m + h, 4 * m, **gates
        )
        self.hyper_bias = self.add("hyper_bias", 4 * m, **gates)
        self.kernel = self.add("kernel", features, 4 * h, **gates)
        self.recurrent = self.add("recurrent", h, 4 * h, **gates)
        self.bias = self.add("bias", 4 * h, **gates)
        parts = gates | {"gates": 4 * _PARTS}
        self.embedding = self.add("embedding", m, 4 * _PARTS * z, **parts)
        self.embedding_bias = self.add("embedding_bias", 8 * z, **gates)
        self.generator = self.add("generator", z, 4 * _PARTS * h, **parts)
        for bias, units in ((self.hyper_bias, m), (self.bias, h)):
            bias.assign(bias + forget_offset(self.forget_bias, units))
        self.embedding_bias.assign(self.embedding_bias + 1.0)
        scales = tf.repeat([1.0 / z, 1.0 / z, 0.0], 4 * h)
        self.generator.assign(self.generator + scales)
        self.built = True

    def _modulation(self, tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The map from hhat to all scales and biases, as one matrix.

        Two linear maps in a row are merged into one. A step then needs a single
        product instead of one for each of 12 embeddings and 12 vectors.

        Returns:
            `[..., hyper_units, 12 h]` and `[..., 12 h]`, float32.
        """
        blocks = 4 * _PARTS
        embedding, bias = tensor(self.embedding), tensor(self.embedding_bias)
        generator = tensor(self.generator)
        lead = [-1] if self.tasks else []
        m, z, h = self.hyper_units, self.hyper_vector, self.units
        embedding = tf.reshape(embedding, [*lead, m, blocks, z])
        bias = tf.reshape(bias, [*lead, blocks - 4, z])
        generator = tf.reshape(generator, [*lead, z, blocks, h])
        matrix = tf.einsum("...mkz,...zkh->...mkh", embedding, generator)
        scales, _ = tf.split(generator, [blocks - 4, 4], axis=-2)
        offset = tf.einsum("...kz,...zkh->...kh", bias, scales)
        offset = tf.reshape(offset, [*lead, (blocks - 4) * h])
        return (
            tf.reshape(matrix, [*lead, m, blocks * h]),
            tf.concat([offset, tensor(self.bias)], -1),
        )

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""

        def tensor(weight):
            return tf.convert_to_tensor(self.of_task(weight, task))

        modulation, offset = self._modulation(tensor)
        if self.tasks:
            offset = offset[:, None]
        weights = {
            "hyper_kernel": tensor(self.hyper_kernel),
            "hyper_recurrent": tensor(self.hyper_recurrent),
            "kernel": tensor(self.kernel),
            "recurrent": tensor(self.recurrent),
            "modulation": modulation,
        }
        weights = {name: self.cast(w) for name, w in weights.items()}
        sizes = {
            "hidden": self.units,
            "memory": self.units,
            "hyper_hidden": self.hyper_units,
            "hyper_memory": self.hyper_units,
        }
        rows = zero_state(x, modulation=4 * _PARTS * self.units)
        return self._recurrence(
            x,
            mask,
            weights | {"hyper_bias": tensor(self.hyper_bias)},
            zero_state(x, **sizes),
            {"offset": rows["modulation"] + offset},
            reverse=self.reverse,
            training=training,
            sequences=("hidden",) if sequence or inspect else (),
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "hyper_units": self.hyper_units,
            "hyper_vector": self.hyper_vector,
        }
