"""Meta multi-task learning: a shared network generates each task's weights."""

import keras

from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM
from mtl_tf.models.scheme import RecurrentScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class MetaLSTMScheme(RecurrentScheme):
    """Meta-MTL (Chen et al. 2018, equations 10 to 22).

    The meta network is shared. Every task has its own basic network. With one
    task this is the paper's single-task Meta-LSTM.

    Args:
        tasks: number of tasks.
        units: size h of the basic networks.
        meta_units: size m of the meta network.
        meta_vector: size z of the meta vector.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, or 2 * units if
        bidirectional.
    Masking: padding changes nothing.
    "inspect": "forward/hidden" `[G, B, T, units]` and "forward/meta_vector"
        `[G, B, T, meta_vector]`, from which equation 23 follows; the same under
        "backward/".

    Example:
        ```python
        scheme = MetaLSTMScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    layer = MetaLSTM

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        meta_units: int = 40,
        meta_vector: int = 40,
        **kwargs,
    ):
        super().__init__(
            {
                "tasks": tasks,
                "units": units,
                "meta_units": meta_units,
                "meta_vector": meta_vector,
            },
            **kwargs,
        )
