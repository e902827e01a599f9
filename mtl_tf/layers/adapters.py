"""Small networks of tasks' own inside a shared encoder."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer, choose


@keras.saving.register_keras_serializable(package="mtl_tf")
class BottleneckAdapter(StackedLayer):
    """x + W_up relu(W_down x + b_down) + b_up, with weights of each task.

    Houlsby et al. (2019), "Parameter-Efficient Transfer Learning for NLP",
    section 2.1; the up-projection starts at 0, so that a new adapter changes
    nothing. (The paper does not name its nonlinearity.)

    Args:
        units: size of the bottleneck.
        tasks: number of tasks, each with weights of its own.
        init: see `layers.base.check_init`.

    Input shape: `[N, T, D]`, where the rows of a group's task stand together,
        N / G of each, and the groups' tasks int32 `[G]`.
    Output shape: `[N, T, D]`.
    Masking: none; each place by itself.

    Example:
        ```python
        y = BottleneckAdapter(units=16, tasks=4)(x, task)
        ```
    """

    def __init__(self, units: int, tasks: int, **kwargs):
        super().__init__(**kwargs)
        self.units = checks.positive_integer("units", units)
        self.tasks = checks.positive_integer("tasks", tasks)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        size, stack = input_shape[-1], (self.tasks,)
        self.down = self.add("down", size, self.units, stack=stack)
        self.down_bias = self.add("down_bias", self.units, stack=stack)
        self.up = self.add("up", self.units, size, stack=stack)
        self.up_bias = self.add("up_bias", size, stack=stack)
        self.up.assign(tf.zeros_like(self.up))
        self.built = True

    def call(self, x, task):
        """Adds what the tasks' networks make of `x`."""
        shape, groups = tf.shape(x), tf.shape(task)[0]
        rows = tf.reshape(self.cast(x), [groups, -1, x.shape[-1]])

        def of_task(weight: keras.Variable) -> tf.Tensor:
            return self.cast(choose(weight, task))

        hidden = rows @ of_task(self.down) + of_task(self.down_bias)[:, None]
        added = tf.nn.relu(hidden) @ of_task(self.up)
        added += of_task(self.up_bias)[:, None]
        return x + tf.cast(tf.reshape(added, shape), x.dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "tasks": self.tasks,
        }
