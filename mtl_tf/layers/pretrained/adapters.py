"""Bottleneck adapters inside a pretrained encoder, per task or shared."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class BottleneckAdapter(StackedLayer):
    """x + W_up relu(W_down x + b_down) + b_up, per task or shared.

    Houlsby et al. (2019), "Parameter-Efficient Transfer Learning for NLP",
    section 2.1. The up-projection starts at 0, so that a new adapter changes
    nothing. (The paper does not name its non-linearity.)

    Args:
        units: size of the bottleneck.
        tasks: number of tasks, each with its own weights; 0 for one network
            that all tasks share.
        init: see `layers.base.check_init`.

    Input shape: `[N, T, D]`, where the N / G rows of each group are
        consecutive, and the groups' tasks int32 `[G]`.
    Output shape: `[N, T, D]`.
    Masking: none; each position is computed separately.

    Example:
        ```python
        y = BottleneckAdapter(units=16, tasks=4)(x, task)
        ```
    """

    def __init__(self, units: int, tasks: int, **kwargs):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.not_negative_integer("tasks", tasks)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        size, stack = input_shape[-1], (self.tasks,) if self.tasks else ()
        self.down = self.add("down", size, self.units, stack=stack)
        self.down_bias = self.add("down_bias", self.units, stack=stack)
        self.up = self.add("up", self.units, size, stack=stack)
        self.up_bias = self.add("up_bias", size, stack=stack)
        self.up.assign(tf.zeros_like(self.up))
        self.built = True

    def call(self, x, task):
        """Adds the outputs of the tasks' networks to `x`."""
        shape, groups = tf.shape(x), tf.shape(task)[0]
        rows = tf.reshape(self.cast(x), [groups, -1, x.shape[-1]])

        def affine(values, weight: keras.Variable, bias: keras.Variable):
            weight, bias = self.of_task(weight, task), self.of_task(bias, task)
            # [G, N], or [N] if all tasks share it
            bias = tf.reshape(bias, [-1, 1, bias.shape[-1]])
            return values @ self.cast(weight) + self.cast(bias)

        hidden = tf.nn.relu(affine(rows, self.down, self.down_bias))
        added = affine(hidden, self.up, self.up_bias)
        return x + tf.cast(tf.reshape(added, shape), x.dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
        }
