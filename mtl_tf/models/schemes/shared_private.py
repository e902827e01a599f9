"""The shared-private schemes: parallel or stacked LSTMs."""

import keras

from mtl_tf.layers.recurrent.shared_private import (
    ParallelSharedPrivate,
    SerialSharedPrivate,
)
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class ParallelScheme(RecurrentScheme):
    """PSP-MTL of Chen et al. (2018): a shared LSTM parallel to one per task.

    The shared-private model of Liu et al. (2017).

    Args:
        tasks: number of tasks.
        units: size of each LSTM.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is 2 * units, or 4 * units
        if bidirectional. In each direction the shared half comes first, then
        the private one.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" (and "backward/hidden"), `[G, B, T, 2 units]`.

    Example:
        ```python
        scheme = ParallelScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = ParallelSharedPrivate

    def __init__(self, tasks: int, units: int = 100, **kwargs):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
            },
            **kwargs,
        )

    @property
    def output_units(self) -> int:
        """The size of the summary and of each element of the sequence."""
        return 2 * super().output_units


@keras.saving.register_keras_serializable(package="mtl_tf")
class SerialScheme(RecurrentScheme):
    """SSP-MTL of Chen et al. (2018): a shared LSTM feeds one LSTM per task.

    Their equations 6 and 7; for `private_input` see
    `layers.recurrent.shared_private`.

    Args:
        tasks: number of tasks.
        units: size of each LSTM.
        private_input: "shared" (consistent with the counts in their Table 3) or
            "both" (as printed in their equation 7).
        bidirectional, pooling, forget_bias: see `RecurrentScheme`. Each
            direction is a separate stack.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" (and "backward/hidden"), `[G, B, T, units]`.

    Example:
        ```python
        scheme = SerialScheme(tasks=16, private_input="both")
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = SerialSharedPrivate

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        private_input: str = "shared",
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "private_input": private_input,
            },
            **kwargs,
        )
