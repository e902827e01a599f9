"""The HyperLSTM scheme: one for all tasks, or one per task."""

import keras

from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class HyperLSTMScheme(RecurrentScheme):
    """A HyperLSTM (Ha et al. 2016), to which Chen et al. (2018) compare.

    Chen et al. train it on single tasks. With one task, both values of
    `sharing` give that model.

    Args:
        tasks: number of tasks.
        units: size of the main cell.
        hyper_units: size of the hyper cell.
        hyper_vector: size of the embeddings that generate the scales.
        sharing: "private": one per task; "shared": one for all tasks.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" (and "backward/hidden"), `[G, B, T, units]`.

    Example:
        ```python
        scheme = HyperLSTMScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = HyperLSTM

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        hyper_units: int = 100,
        hyper_vector: int = 16,
        sharing: str = "private",
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "hyper_units": hyper_units,
                "hyper_vector": hyper_vector,
                "sharing": sharing,
            },
            **kwargs,
        )
