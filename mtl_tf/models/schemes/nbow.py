"""NBOW: the sum of a text's word vectors, with a non-linearity."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers import pooling
from mtl_tf.models.scheme import SharingScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class NBOWScheme(SharingScheme):
    """summary = tanh(sum of the word vectors): the neural bag of words.

    The row "NBOW" of Liu et al. (2016, Table 3): "sums up the word vectors and
    applies a non-linearity followed by a softmax classification layer". The
    scheme has no weights. Tasks that are trained together share the word
    vectors; tasks that are trained separately share nothing.

    Args:
        tasks: number of tasks.
        bag: "sum" (as in the paper) or "mean", which does not grow with the
            length of a text.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is D, and there is no
        sequence.
    Masking: padding changes nothing. A text without tokens has the summary 0.

    Example:
        ```python
        summary = NBOWScheme(tasks=4)(embedded, mask, task)["summary"]
        ```
    """

    has_sequence = False
    half_precision = True

    def __init__(self, tasks: int, bag: str = "sum", **kwargs):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)
        self.bag = bag
        self._pool = pooling.bag(bag)

    def build(self, input_shape, *_):
        """Sets the summary's size from inputs `[..., D]`."""
        self.output_units = input_shape[-1]
        self.built = True

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=False,
    ):
        """See `SharingScheme.call`."""
        summary = tf.tanh(self._pool(self.cast(embedded), mask))
        return {"summary": summary, "losses": {}, "inspect": {}}

    def get_config(self) -> dict:
        """The constructor's arguments."""
        config = {"tasks": self.tasks, "bag": self.bag}
        return super().get_config() | config
