"""MT-CNN: partly shared word vectors and task-specific convolutions."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.convolution import ConvolutionBank
from mtl_tf.layers.pooling import max_over_time
from mtl_tf.models.scheme import SharingScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class MTCNNScheme(SharingScheme):
    """The convolutional network of Collobert and Weston (2008).

    Windows of the text go through the task's own filters, tanh and a maximum
    over time. Only word vectors are shared. In "MT-CNN", a baseline of Liu et
    al. (2016), even these are shared only in part ("only one lookup table is
    shared, and the other lookup tables and layers are task-specific"). For
    this, set `config.model.embedding_private_dim`: that many of the dimensions
    come from a table of the task (`layers.inputs.embedding.Embedding`). Without
    that field the whole table is shared.

    Args:
        tasks: number of tasks.
        filters: number F of filters of each width.
        widths: widths of the windows, in tokens.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is len(widths) * filters.
        The sequence holds the features of the window around each token.
    Masking: padding changes nothing. The sequence is 0 there, and the summary
        of a text without tokens is 0.
    "inspect": "features" `[G, B, T, H]`, the sequence.

    Example:
        ```python
        scheme = MTCNNScheme(tasks=4, filters=100, widths=[3, 4, 5])
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    half_precision = True

    def __init__(
        self,
        tasks: int,
        filters: int = 100,
        widths: Sequence[int] = (3, 4, 5),
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)
        self.convolution = ConvolutionBank(
            filters,
            widths,
            tasks,
            init=self.init,
            dtype=self.dtype_policy,
            name="convolution",
        )

    @property
    def output_units(self) -> int:
        """The size of the summary and of each element of the sequence."""
        return self.convolution.units

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        self.convolution.build(input_shape)
        self.built = True

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=True,
    ):
        """See `SharingScheme.call`."""
        before = self.convolution(embedded, mask, task)
        # tanh is monotonic, so it can follow the maximum. Far fewer values of
        # it are then computed.
        summary = tf.tanh(max_over_time(before, mask))
        output = {"summary": summary, "losses": {}, "inspect": {}}
        if sequence or inspect:
            features = tf.where(mask[..., None], tf.tanh(before), 0)
        if sequence:
            output["sequence"] = features
        if inspect:
            output["inspect"] = {"features": features}
        return output

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "tasks": self.tasks,
            "filters": self.convolution.filters,
            "widths": list(self.convolution.widths),
        }
