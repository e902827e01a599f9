"""Base of the LSTMs: the options that all of them have."""

from mtl_tf.core import checks
from mtl_tf.layers.recurrent.recurrent_layer import RecurrentLayer


class GatedLayer(RecurrentLayer):
    """Base class of the recurrent layers with a forget gate.

    Args:
        units: size H of the hidden state.
        tasks: 0 for one set of weights for all tasks; otherwise the number of
            tasks, each with its own weights, stacked.
        reverse: from the last token to the first.
        forget_bias: added to the forget gate's initial bias; see
            `lstm.forget_offset`.
        init: see `base.check_init`.
    """

    def __init__(
        self,
        units: int,
        tasks: int = 0,
        reverse: bool = False,
        forget_bias: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        self.reverse = checks.boolean("reverse", reverse)
        self.forget_bias = checks.not_negative("forget_bias", forget_bias)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
            "reverse": self.reverse,
            "forget_bias": self.forget_bias,
        }
