"""A shared LSTM with one private LSTM per task, parallel or stacked."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.recurrent.gated_layer import GatedLayer
from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.layers.recurrent.recurrence import Result

_INPUTS = ["shared", "both"]


class _SharedPrivate(GatedLayer):
    """Base of both arrangements: the two LSTMs of one direction."""

    def __init__(self, units: int, tasks: int, **kwargs):
        tasks = checks.positive_integer("tasks", tasks)
        super().__init__(units, tasks, **kwargs)
        self.shared = self._lstm("shared", 0)
        self.private = self._lstm("private", tasks)

    def _lstm(self, name: str, tasks: int) -> LSTM:
        return LSTM(
            self.units,
            tasks=tasks,
            reverse=self.reverse,
            forget_bias=self.forget_bias,
            init=self.init,
            dtype=self.dtype_policy,
            # Initial values depend on the name, so the directions differ.
            name=f"{self.name}_{name}",
        )


@keras.saving.register_keras_serializable(package="mtl_tf")
class ParallelSharedPrivate(_SharedPrivate):
    """A shared and a private LSTM on the same input; outputs concatenated.

    The shared-private model of Liu et al. (2017), which Chen et al. (2018) call
    PSP: `s_t = LSTM(x_t, s_(t-1), theta_s)`,
    `p_t = LSTM(x_t, p_(t-1), theta_k)`, `h_t = [s_t; p_t]`.

    Args:
        units: size H of each of the two.
        tasks: number of tasks.
        reverse: from the last token to the first.
        forget_bias: of both; see `lstm.forget_offset`.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: the states "hidden"
        `[G, B, 2H]` and its halves "shared" and "private" `[G, B, H]`, and the
        sequence "hidden" `[G, B, T, 2H]` if requested.
    Masking: as `LSTM`.

    Example:
        ```python
        layer = ParallelSharedPrivate(100, tasks=16)
        summary = layer(x, mask, task).state["hidden"]  # [G, B, 200]
        ```
    """

    @property
    def output_units(self) -> int:
        """Twice `units`, for the two concatenated states."""
        return 2 * self.units

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        self.shared.build(input_shape)
        self.private.build(input_shape)
        self.built = True

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        options = {"training": training, "sequence": sequence or inspect}
        results = [
            lstm(x, mask, task, **options)
            for lstm in (self.shared, self.private)
        ]
        shared, private = (result.state["hidden"] for result in results)
        state = {
            "hidden": tf.concat([shared, private], -1),
            "shared": shared,
            "private": private,
        }
        if not options["sequence"]:
            return Result(state, {}, {})
        steps = [result.sequences["hidden"] for result in results]
        return Result(state, {"hidden": tf.concat(steps, -1)}, {})


@keras.saving.register_keras_serializable(package="mtl_tf")
class SerialSharedPrivate(_SharedPrivate):
    """A private LSTM that reads the outputs of a shared LSTM.

    The stacked arrangement, SSP, of Chen et al. (2018), equations 6 and 7:
    `s_t = LSTM(x_t, s_(t-1), theta_s)`,
    `h_t = LSTM([x_t; s_t], h_(t-1), theta_k)`. The parameter counts of their
    Table 3 are those of a private LSTM which reads only s_t.

    Args:
        units: size H of each of the two.
        tasks: number of tasks.
        reverse: from the last token to the first.
        forget_bias: of both; see `lstm.forget_offset`.
        private_input: "shared": the private LSTM reads s_t; "both": it reads
            `[x_t; s_t]`, as printed in equation 7.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, tasks int32 `[G]`.
    Output shape: a `recurrence.Result`, float32: that of the private LSTM, with
        the additional state "shared" `[G, B, H]`.
    Masking: as `LSTM`.

    Example:
        ```python
        layer = SerialSharedPrivate(100, tasks=16)
        summary = layer(x, mask, task).state["hidden"]  # [G, B, 100]
        ```
    """

    def __init__(
        self,
        units: int,
        tasks: int,
        private_input: str = "shared",
        **kwargs,
    ):
        super().__init__(units, tasks, **kwargs)
        self.private_input = checks.one_of(
            "private_input", private_input, _INPUTS
        )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        self.shared.build(input_shape)
        features = self.units
        if self.private_input == "both":
            features += input_shape[-1]
        self.private.build((*input_shape[:-1], features))
        self.built = True

    def run(
        self, x, mask, task, training: bool, sequence: bool, inspect: bool
    ) -> Result:
        """See `RecurrentLayer.run`."""
        below = self.shared(x, mask, task, training=training, sequence=True)
        read = self.cast(below.sequences["hidden"])
        if self.private_input == "both":
            read = tf.concat([self.cast(x), read], -1)
        above = self.private(
            read,
            mask,
            task,
            training=training,
            sequence=sequence or inspect,
        )
        state = dict(above.state) | {"shared": below.state["hidden"]}
        return Result(state, above.sequences, {})

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"private_input": self.private_input}
