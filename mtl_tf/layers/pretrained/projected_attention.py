"""Projected attention layers in an encoder (PALs), per task or shared."""

import math

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer

_FIELD = "model.encoder.projected_attention"


def check_heads(units: int, heads: int) -> None:
    """Raises `ConfigError` unless `units` are a multiple of `heads`."""
    if units % heads:
        raise ConfigError(
            f"{_FIELD}_units must be a multiple of {_FIELD}_heads "
            f"({heads}), got {units}"
        )


@keras.saving.register_keras_serializable(package="mtl_tf")
class ProjectedAttention(StackedLayer):
    """TS(h) = V_D MH(V_E h), a task's term in the last sum of each layer.

    Stickland and Murray (2019), "BERT and PALs: Projected Attention Layers for
    Efficient Adaptation in Multi-Task Learning", equations 5 and 6. V_E
    projects the layer's input to few units. MH is multi-head attention there,
    without an output projection. V_D projects back. The layers of a task share
    V_E and V_D, but each has its own attention. V_D starts at 0, so that a new
    term changes nothing.

    Args:
        units: size of the small space, a multiple of `heads`; 204 in the paper.
        heads: number of attention heads; 12 in the paper.
        layers: number of layers of the encoder.
        tasks: number of tasks, each with its own weights; 0 for weights that
            all tasks share.
        init: see `layers.base.check_init`.

    Input shape: a layer's inputs `[N, T, D]`, where the N / G rows of each
        group are consecutive; their mask, int32 or bool `[N, T]`; the groups'
        tasks int32 `[G]`; and the number of the layer.
    Output shape: `[N, T, D]`.
    Masking: masked positions are not attended to.

    Example:
        ```python
        attention = ProjectedAttention(units=204, heads=12, layers=6, tasks=4)
        y = attention(h, mask, task, layer=0)
        ```
    """

    def __init__(
        self, units: int, heads: int, layers: int, tasks: int, **kwargs
    ):
        super().__init__(**kwargs)
        self.units = checks.positive_integer(f"{_FIELD}_units", units)
        self.heads = checks.positive_integer(f"{_FIELD}_heads", heads)
        self.layers = checks.positive_integer("layers", layers)
        self.tasks = checks.not_negative_integer("tasks", tasks)
        check_heads(units, heads)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        size, units = input_shape[-1], self.units
        stack = (self.tasks,) if self.tasks else ()
        self.encode = self.add("encode", size, units, stack=stack)
        self.decode = self.add("decode", units, size, stack=stack)
        self.decode.assign(tf.zeros_like(self.decode))
        for layer in range(self.layers):
            # Three concatenated matrices, each of which is drawn separately.
            weight = self.add(
                f"attention_{layer}", units, 3 * units, stack=stack, gates=3
            )
            # An attribute, because a checkpoint does not look into lists.
            setattr(self, f"attention_{layer}", weight)
        self.built = True

    def call(self, x, mask, task, *, layer: int = 0):
        """The tasks' terms for the layer with this number, from 0."""
        shape, groups = tf.shape(x), tf.shape(task)[0]
        rows = tf.reshape(self.cast(x), [groups, -1, x.shape[-1]])

        def times(values: tf.Tensor, weight: keras.Variable) -> tf.Tensor:
            return values @ self.cast(self.of_task(weight, task))

        # [G, N / G * T, 3 U] -> three of [N, heads, T, U / heads]
        projected = times(rows, self.encode)
        stacked = times(projected, getattr(self, f"attention_{layer}"))
        size = self.units // self.heads
        split = tf.reshape(stacked, [shape[0], shape[1], 3, self.heads, size])
        query, key, value = tf.unstack(tf.transpose(split, [2, 0, 3, 1, 4]))
        scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(size)
        # A very low score that half precision can still represent.
        left_out = tf.cast(tf.logical_not(tf.cast(mask, tf.bool)), scores.dtype)
        scores -= 3e4 * left_out[:, None, None, :]
        context = tf.nn.softmax(scores) @ value
        context = tf.transpose(context, [0, 2, 1, 3])
        context = tf.reshape(context, [groups, -1, self.units])
        return tf.cast(tf.reshape(times(context, self.decode), shape), x.dtype)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "heads": self.heads,
            "layers": self.layers,
            "tasks": self.tasks,
        }
