"""ARC-II: an LSTM and a memory per task, and one memory that all share."""

import keras

from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class ArcIIScheme(RecurrentScheme):
    """ARC-II, local-global hybrid memory (Liu et al. 2016, eqs. 16 to 19).

    Every task has its own LSTM, fusion and local memory. What is read from the
    local memory is written to a global memory. The parameters and the initial
    state of the global memory are shared by all tasks, per direction.

    Args:
        tasks: number of tasks.
        units: size H of the hidden states.
        memory_slots: number of segments K of either memory.
        memory_width: size M of a segment.
        align: "cosine" or "mlp", equation 8.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" and "forward/gate" (the fusion gate)
        `[G, B, T, units]`; "forward/alpha" and "forward/global_alpha"
        `[G, B, T, memory_slots]`, the read weights of the local and the global
        memory; the same under "backward/".

    Example:
        ```python
        scheme = ArcIIScheme(tasks=4, units=100)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = LocalGlobalLSTM

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        memory_slots: int = 50,
        memory_width: int = 20,
        align: str = "cosine",
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "memory_slots": memory_slots,
                "memory_width": memory_width,
                "align": align,
            },
            **kwargs,
        )
