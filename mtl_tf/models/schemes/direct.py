"""Heads placed directly on the embeddings or the pretrained encoder."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.pooling import OVER_TIME, AttentionPooling
from mtl_tf.models.scheme import SharingScheme

POOLINGS = ("first", "mean", "max", "attention")


@keras.saving.register_keras_serializable(package="mtl_tf")
class DirectScheme(SharingScheme):
    """No layers of its own: everything below the heads is shared.

    On top of a pretrained encoder this is MT-DNN (Liu et al. 2019, "Multi-Task
    Deep Neural Networks for Natural Language Understanding"): each task's head
    reads the state of the first piece, `[CLS]`.

    Args:
        tasks: number of tasks.
        pooling: how a text is summarised: by the "first" state, or by the
            "mean", the "max" or a learnt weighted mean ("attention") of all
            states.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is D, and the sequence is
        the input.
    Masking: padding changes nothing. The "first" state is taken even if the
        mask is false there.

    Example:
        ```python
        outputs = DirectScheme(tasks=2)(states, mask, task)
        ```
    """

    static_shapes = False
    half_precision = True

    def __init__(self, tasks: int = 1, *, pooling: str = "first", **kwargs):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)
        self.pooling = checks.one_of("pooling", pooling, POOLINGS)
        self.attention = None
        if pooling == "attention":
            self.attention = AttentionPooling(
                0, init=self.init, dtype=self.dtype_policy, name="attention"
            )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        self.output_units = input_shape[-1]
        if self.attention is not None:
            self.attention.build(input_shape)
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
        embedded = self.cast(embedded)
        return {
            "summary": self._summary(embedded, mask, task),
            "sequence": embedded,
            "losses": {},
            "inspect": {},
        }

    def _summary(self, states, mask, task) -> tf.Tensor:
        if self.pooling == "first":
            return states[:, :, 0]
        if self.attention is not None:
            return self.cast(self.attention(states, mask, task))
        return self.cast(OVER_TIME[self.pooling](states, mask))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "tasks": self.tasks,
            "pooling": self.pooling,
        }
