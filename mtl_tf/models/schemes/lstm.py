"""The LSTM scheme: one for all tasks, or one per task."""

import keras

from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class LSTMScheme(RecurrentScheme):
    """A long short-term memory (Chen et al. 2018, equations 2 to 5).

    Args:
        tasks: number of tasks.
        units: size of the hidden state.
        sharing: "shared": one for all tasks; "private": one per task.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" (and "backward/hidden"), `[G, B, T, units]`.

    Example:
        ```python
        scheme = LSTMScheme(tasks=16, units=100, sharing="private")
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = LSTM

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        sharing: str = "shared",
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "sharing": sharing,
            },
            **kwargs,
        )
