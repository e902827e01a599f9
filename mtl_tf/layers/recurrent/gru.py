"""A gated recurrent unit in one direction."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.recurrent.lstm import time_product, zero_state
from mtl_tf.layers.recurrent.recurrence import Recurrence, Result
from mtl_tf.layers.recurrent.recurrent_layer import RecurrentLayer
from mtl_tf.layers.recurrent.steps import Operations, Tensors


def gru_update(
    ops: Operations, gates: tf.Tensor, candidate: tf.Tensor, hidden: tf.Tensor
) -> tf.Tensor:
    """The new hidden state of a gated recurrent unit.

    Equations 9 to 12 of Dong et al. (2015). The reset gate multiplies the state
    before the candidate's matrix U does. The update gate z weighs the
    candidate: `h' = (1 - z) * h + z * tanh(candidate + U (r * h))`.

    Args:
        ops: the step's operations; the weight "candidate" is U.
        gates: complete pre-activations `[..., 2 * units]` of the update gate z
            and the reset gate r.
        candidate: the inputs' contribution to the candidate, `[..., units]`.
        hidden: h, `[..., units]`.

    Returns:
        h', `[..., units]`.
    """
    z, r = tf.split(ops.sigmoid(gates), 2, axis=-1)
    new = ops.tanh(candidate + ops.matmul(r * hidden, "candidate"))
    return (1.0 - z) * hidden + z * new


def gru_inputs(x: tf.Tensor, weights: Tensors) -> dict[str, tf.Tensor]:
    """The inputs' contribution to gates and candidate, for all steps.

    Args:
        x: `[T, G, B, D]`.
        weights: "kernel" `[D, 3 * units]` (z, r, candidate) and optionally
            "bias" `[3 * units]`.

    Returns:
        "gates" `[T, G, B, 2 * units]` and "candidate" `[T, G, B, units]`.
    """
    a = time_product(x, weights["kernel"])
    if "bias" in weights:
        a += weights["bias"]
    units = a.shape[-1] // 3
    gates, candidate = tf.split(a, [2 * units, units], axis=-1)
    return {"gates": gates, "candidate": candidate}


def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    hidden = state["hidden"]
    gates = inputs["gates"] + ops.matmul(hidden, "recurrent")
    return {"hidden": gru_update(ops, gates, inputs["candidate"], hidden)}


@keras.saving.register_keras_serializable(package="mtl_tf")
class GRU(RecurrentLayer):
    """A gated recurrent unit in one direction.

    Equations 9 to 12 of Dong et al. (2015), after Cho et al. (2014):
    `z = s(W_z x_t + U_z h)`, `r = s(W_r x_t + U_r h)`,
    `h_t = (1 - z) * h + z * tanh(W x_t + U (r * h))` with h = h_(t-1). In
    `keras.layers.GRU` this is `reset_after=False`, with z and 1 - z swapped.

    Args:
        units: size H of the hidden state.
        reverse: from the last token to the first.
        bias: add a bias to every pre-activation; the paper prints none.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]` and a mask bool `[G, B, T]`.
    Output shape: a `recurrence.Result`, float32: the state "hidden" after the
        last real token `[G, B, H]`, and the requested sequences.
    Masking: the state does not change where the mask is false, so padding
        changes nothing. A row without tokens has zeros.

    Example:
        ```python
        last = GRU(100)(x, mask).state["hidden"]
        ```
    """

    def __init__(
        self, units: int, reverse: bool = False, bias: bool = True, **kwargs
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.reverse = checks.boolean("reverse", reverse)
        self.use_bias = checks.boolean("bias", bias)
        self._recurrence = Recurrence(_step, gru_inputs)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        self.kernel = self.add(
            "kernel", input_shape[-1], 3 * self.units, gates=3
        )
        self.recurrent = self.add(
            "recurrent", self.units, 2 * self.units, gates=2
        )
        self.candidate = self.add("candidate", self.units, self.units)
        if self.use_bias:
            self.bias = self.add("bias", 3 * self.units)
        self.built = True

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        del task, inspect
        weights = {
            name: self.cast(getattr(self, name).value)
            for name in ("kernel", "recurrent", "candidate")
        }
        if self.use_bias:
            weights["bias"] = tf.convert_to_tensor(self.bias.value)
        return self._recurrence(
            x,
            mask,
            weights,
            zero_state(x, hidden=self.units),
            reverse=self.reverse,
            training=training,
            sequences=("hidden",) if sequence else (),
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "reverse": self.reverse,
            "bias": self.use_bias,
        }
