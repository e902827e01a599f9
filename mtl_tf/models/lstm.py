"""The LSTM scheme: one for all tasks, or one per task."""

import keras

from mtl_tf.core import checks
from mtl_tf.layers.lstm import LSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class LSTMScheme(RecurrentScheme):
    """A long short-term memory (Chen et al. 2018, equations 2 to 5).

    Args:
        tasks: number of tasks.
        units: size of the hidden state.
        sharing: "shared": one for all tasks; "private": one per task.
        forget_bias: added to the forget gate's initial bias.
        bidirectional: whether to run in both directions.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or twice it.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" (and "backward/hidden"), `[G, B, T, units]`.

    Example:
        ```python
        scheme = LSTMScheme(tasks=16, units=100, sharing="private")
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        sharing: str = "shared",
        forget_bias: float = 0.0,
        **kwargs,
    ):
        self._options = {
            "tasks": checks.positive_integer("tasks", tasks),
            "units": checks.positive_integer("units", units),
            "sharing": checks.one_of("sharing", sharing, _SHARING),
            "forget_bias": forget_bias,
        }
        super().__init__(**kwargs)

    def direction(self, reverse, name):
        """See `RecurrentScheme`."""
        private = self._options["sharing"] == "private"
        return LSTM(
            self._options["units"],
            tasks=self._options["tasks"] if private else 0,
            reverse=reverse,
            forget_bias=self._options["forget_bias"],
            init=self.init,
            dtype=self.dtype_policy,
            name=name,
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | dict(self._options)


_SHARING = ["shared", "private"]
