"""Convolutions over windows of a text, with task-specific filters."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer, choose
from mtl_tf.layers.products import product


@keras.saving.register_keras_serializable(package="mtl_tf")
class ConvolutionBank(StackedLayer):
    """Task-specific filters of several widths, at every token of a text.

    For width w and task k, with x = 0 outside the text:

        y_t = sum over j = 0 .. w - 1 of L_j^(k) x_(t + j - (w - 1) // 2)
              + b^(k)

    This is the convolution (TDNN layer) of Collobert and Weston (2008) before
    its non-linearity, for each of several widths. The window of an even width
    reaches one token further to the right. Their padding words are zeros here,
    so that no table needs a row for them.

    Args:
        filters: number F of filters of each width.
        widths: the widths, each a number of tokens, all different.
        tasks: number of tasks.
        init: see `base.check_init`.

    Input shape: `[G, B, T, D]`, a mask bool `[G, B, T]`, and the groups' tasks,
        int32 `[G]`.
    Output shape: `[G, B, T, len(widths) * F]`, all widths concatenated, in the
        policy's compute dtype.
    Masking: a masked token counts as zeros, as if the text ended there. Outputs
        at masked tokens have no meaning.
    Example:
        ```python
        bank = ConvolutionBank(100, widths=[3, 4, 5], tasks=16)
        features = tf.tanh(bank(embedded, mask, task))
        ```
    """

    def __init__(
        self, filters: int, widths: Sequence[int], tasks: int, **kwargs
    ):
        super().__init__(**kwargs)
        self.filters = checks.positive_integer("filters", filters)
        self.widths = check_widths(widths)
        self.tasks = checks.positive_integer("tasks", tasks)

    @property
    def units(self) -> int:
        """The size of the output: one value per width and filter."""
        return len(self.widths) * self.filters

    def build(self, input_shape, *_):
        """Makes the filters, `[tasks, w * D, F]` for each width."""
        stack, size = (self.tasks,), input_shape[-1]
        for width in self.widths:
            # One attribute each, because tf.train.Checkpoint ignores lists.
            kernel = self.add(
                f"kernel_{width}", width * size, self.filters, stack=stack
            )
            setattr(self, f"kernel_{width}", kernel)
        self.bias = self.add("bias", self.units, stack=stack)
        self.built = True

    def call(self, x, mask, task):
        """Applies the filters of each group's task."""
        x = tf.where(mask[..., None], self.cast(x), 0)
        features = [self._convolve(x, width, task) for width in self.widths]
        bias = self.cast(choose(self.bias, task))
        return tf.concat(features, -1) + bias[:, None, None]

    def _convolve(self, x, width, task):
        """The output `[G, B, T, F]` for one width; `SAME` aligns as above."""
        kernel = getattr(self, f"kernel_{width}")
        kernel = self.cast(choose(kernel, task))
        if x.shape[0] != 1:
            return product(_windows(x, width), kernel)
        # TensorFlow's convolution cannot use different filters per group. For
        # one group it takes less than half the time of the product.
        shape = (width, x.shape[-1], self.filters)
        y = tf.nn.conv1d(x[0], tf.reshape(kernel, shape), 1, "SAME")
        return y[None]

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "filters": self.filters,
            "widths": list(self.widths),
            "tasks": self.tasks,
        }


def check_widths(widths: Sequence[int]) -> list[int]:
    """Returns the widths of windows as a list.

    Raises:
        ConfigError: there are none, a width occurs twice, or one is not a
            positive integer.
    """
    if not isinstance(widths, (list, tuple)) or not widths:
        raise ConfigError(
            f"widths must be a list of at least one width, got {widths!r}"
        )
    for width in widths:
        checks.positive_integer("every one of widths", width)
    if len(set(widths)) < len(widths):
        raise ConfigError(f"widths must all be different, got {widths!r}")
    return [int(width) for width in widths]


def _windows(x: tf.Tensor, width: int) -> tf.Tensor:
    """The `width` vectors around each token, `[G, B, T, width * D]`."""
    before = (width - 1) // 2
    padding = [[0, 0], [0, 0], [before, width - 1 - before], [0, 0]]
    padded, length = tf.pad(x, padding), tf.shape(x)[2]
    shifted = [padded[:, :, j : j + length] for j in range(width)]
    windows = tf.concat(shifted, -1)
    return tf.ensure_shape(windows, x.shape[:3] + [width * x.shape[3]])
