"""MT-DNN: a bag of words with a hidden layer that all tasks share."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers import pooling
from mtl_tf.models.scheme import SharingScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class MTDNNScheme(SharingScheme):
    """summary = tanh(W x + b), where x is the text's bag of words.

    This is "MT-DNN", a baseline of Liu et al. (2016), after Liu et al. (2015):
    bag-of-words input and a shared hidden layer below the tasks' outputs. The
    bag is the sum of the word vectors, which equals the vector of word counts
    times the look-up table. The table, W and b are shared.

    Args:
        tasks: number of tasks.
        units: size H of the hidden layer.
        bag: "sum" (as in the paper) or "mean", which does not grow with the
            length of a text.
        init: see `layers.base.check_init`.

    Input and output shapes: see `SharingScheme`; H is units, and there is no
        sequence.
    Masking: padding changes nothing. A text without tokens has the summary 0,
        whatever the bias is.

    Example:
        ```python
        scheme = MTDNNScheme(tasks=4, units=100)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    has_sequence = False
    half_precision = True

    def __init__(
        self, tasks: int, units: int = 100, bag: str = "sum", **kwargs
    ):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)
        self.units = checks.positive_integer("units", units)
        self.bag = bag
        self._pool = pooling.bag(bag)

    @property
    def output_units(self) -> int:
        """The size of the summary."""
        return self.units

    def build(self, input_shape, *_):
        """Makes W `[D, H]` and b `[H]`."""
        self.kernel = self.add("kernel", input_shape[-1], self.units)
        self.bias = self.add("bias", self.units)
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
        words = self._pool(self.cast(embedded), mask)
        hidden = tf.tanh(words @ self.cast(self.kernel) + self.cast(self.bias))
        has_tokens = tf.reduce_any(mask, axis=2)[..., None]
        return {
            "summary": tf.where(has_tokens, hidden, 0),
            "losses": {},
            "inspect": {},
        }

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "tasks": self.tasks,
            "units": self.units,
            "bag": self.bag,
        }
