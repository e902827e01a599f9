"""A dense layer with weights per task, or one set for all tasks."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer, choose
from mtl_tf.layers.products import product


@keras.saving.register_keras_serializable(package="mtl_tf")
class TaskDense(StackedLayer):
    """A task-specific affine map, `y = x W^(k) + b^(k)` for task k.

    The inner part of equation 8 of Chen et al. (2018). The parameters of all
    tasks are stacked, `[tasks, K, N]` and `[tasks, N]`. One trace then serves
    all tasks, and a batch may hold several.

    Args:
        units: output size N.
        tasks: number of tasks; 0 for one map for all tasks, whose parameters
            are not stacked.
        use_bias: whether to add b.
        init: see `base.check_init`.

    Input shape: `[G, B, ..., K]`, and the groups' tasks, int32 `[G]`.
    Output shape: `[G, B, ..., N]`, in the policy's compute dtype.
    Masking: none.

    Example:
        ```python
        layer = TaskDense(2, tasks=16)
        logits = layer(summary, tf.constant([3]))  # summary [1, B, H]
        ```
    """

    def __init__(self, units: int, tasks: int, use_bias: bool = True, **kwargs):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        self.use_bias = checks.boolean("use_bias", use_bias)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., K]`."""
        stack = (self.tasks,) if self.tasks else ()
        self.kernel = self.add(
            "kernel", input_shape[-1], self.units, stack=stack
        )
        if self.use_bias:
            self.bias = self.add("bias", self.units, stack=stack)
        self.built = True

    def call(self, x, task):
        """Applies the map of each group's task."""
        if not self.tasks:
            y = product(x, self.cast(self.kernel))
            return y + self.cast(self.bias) if self.use_bias else y
        y = product(x, self.cast(choose(self.kernel, task)))
        if not self.use_bias:
            return y
        bias = self.cast(choose(self.bias, task))
        for _ in range(y.shape.rank - 2):
            bias = tf.expand_dims(bias, 1)
        return y + bias

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
            "use_bias": self.use_bias,
        }
