"""Low-rank changes of a layer's weights (LoRA), per task or shared."""

import math

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class LowRankAdapter(StackedLayer):
    """y + (alpha / rank) x A B, where y = x W + b is a shared layer's output.

    Hu et al. (2021), "LoRA: Low-Rank Adaptation of Large Language Models",
    section 4.1, with A and B per task or shared. B starts at 0, so that a new
    adapter changes nothing.

    Args:
        rank: r, the rank of the change.
        tasks: number of tasks, each with its own weights; 0 for one change that
            all tasks share.
        outputs: the trailing axes of the layer's output, such as
            `(heads, head size)` for an attention's query.
        alpha: the change is scaled by alpha / rank.
        init: see `layers.base.check_init`.

    Input shape: the layer's input `[N, T, ...]`, its output `[N, T, *outputs]`,
        and the groups' tasks int32 `[G]`. The N / G rows of each group are
        consecutive.
    Output shape: `[N, T, *outputs]`.
    Masking: none; each position is computed separately.

    Example:
        ```python
        adapter = LowRankAdapter(rank=8, tasks=4, outputs=(64,))
        y = adapter(x, dense(x), task)
        ```
    """

    def __init__(
        self,
        rank: int,
        tasks: int,
        outputs: tuple[int, ...],
        alpha: float = 16.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.rank = checks.positive_integer("rank", rank)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        self.alpha = checks.positive("alpha", alpha)
        self.outputs = tuple(outputs)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[N, T, ...]`."""
        stack = (self.tasks,) if self.tasks else ()
        size = math.prod(input_shape[2:])
        self.down = self.add("down", size, self.rank, stack=stack)
        self.up = self.add(
            "up", self.rank, math.prod(self.outputs), stack=stack
        )
        self.up.assign(tf.zeros_like(self.up))
        self.built = True

    def call(self, x, y, task):
        """Adds the tasks' changes to `y`, the layer's output for `x`."""
        groups = tf.shape(task)[0]
        rows = tf.reshape(self.cast(x), [groups, -1, self.down.shape[-2]])
        down, up = (
            self.cast(self.of_task(weight, task))
            for weight in (self.down, self.up)
        )
        change = self.alpha / self.rank * (rows @ down @ up)
        return y + tf.cast(tf.reshape(change, tf.shape(y)), y.dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "rank": self.rank,
            "tasks": self.tasks,
            "outputs": self.outputs,
            "alpha": self.alpha,
        }
