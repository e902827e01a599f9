"""The ME-LSTM scheme: one for all tasks, or one per task."""

import keras

from mtl_tf.layers.recurrent.me_lstm import MELSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class MELSTMScheme(RecurrentScheme):
    """An LSTM with an external memory (Liu et al. 2016, equations 5 to 13).

    Args:
        tasks: number of tasks.
        units: size H of the hidden state.
        memory_slots: number of segments K of the memory.
        memory_width: size M of a segment.
        align: "cosine" or "mlp", equation 8.
        sharing: "private": one per task, the paper's single-task row; or
            "shared": one for all tasks.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" and "forward/gate" (the fusion gate)
        `[G, B, T, units]`, and "forward/alpha" (the read weights)
        `[G, B, T, memory_slots]`; the same under "backward/".

    Example:
        ```python
        scheme = MELSTMScheme(tasks=4, units=100)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = MELSTM

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        memory_slots: int = 50,
        memory_width: int = 20,
        align: str = "cosine",
        sharing: str = "private",
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "memory_slots": memory_slots,
                "memory_width": memory_width,
                "align": align,
                "sharing": sharing,
            },
            **kwargs,
        )
