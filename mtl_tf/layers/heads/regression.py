"""The output layer of regression tasks."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.task_dense import TaskDense


@keras.saving.register_keras_serializable(package="mtl_tf")
class RegressionHead(StackedLayer):
    """Predicts a number: `offset_k + scale_k (w^(k) h + b^(k))` for task k.

    The loss is the squared error in units of the scale.

    Args:
        offsets: one number per task.
        scales: one positive number per task.
        ranges: for each task its minimum and maximum, or none. Predictions are
            clipped to them; the loss is not.
        init: see `base.check_init`.

    Input shape: `encoded`, a scheme's outputs with "summary" `[G, B, H]`, and a
        batch with "task" int32 `[G]` and optionally "value" float32 `[G, B]`.
    Output shape: a dictionary of "prediction" float32 `[G, B]` and, if there
        are values, "loss" float32 `[G, B]`.
    Masking: none; padding rows get a loss too, which their weight removes.

    Raises:
        ConfigError: the lists differ in length, or a scale is not positive.

    Example:
        ```python
        head = RegressionHead([2.5, 0.0], [2.5, 1.0], [[0.0, 5.0], []])
        output = head({"summary": summary}, {"task": tf.constant([1])})
        ```
    """

    # The entry of a scheme's outputs that the head reads.
    reads = "summary"

    def __init__(
        self,
        offsets: Sequence[float],
        scales: Sequence[float],
        ranges: Sequence[Sequence[float]] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.offsets = [float(offset) for offset in offsets]
        self.scales = [float(checks.positive("scale", s)) for s in scales]
        self.ranges = [
            list(limits) for limits in ranges or [()] * len(self.offsets)
        ]
        if not len(self.offsets) == len(self.scales) == len(self.ranges) > 0:
            raise ConfigError(
                "offsets, scales and ranges must have one entry a task, got "
                f"{len(self.offsets)}, {len(self.scales)} and "
                f"{len(self.ranges)}"
            )
        self.dense = TaskDense(
            1,
            len(self.offsets),
            init=self.init,
            dtype=self.dtype_policy,
            name="dense",
        )

    def build(self, input_shape, *_):
        """Makes the weights for `{"summary": [G, B, H]}`."""
        self.dense.build(input_shape["summary"])
        self.built = True

    def call(self, encoded, batch):
        """Predicts a batch."""
        task = batch["task"]
        inner = tf.cast(self.dense(encoded["summary"], task), tf.float32)
        inner = inner[..., 0]
        offset = tf.gather(tf.constant(self.offsets), task)[:, None]
        scale = tf.gather(tf.constant(self.scales), task)[:, None]
        limits = [
            bounds or [float("-inf"), float("inf")] for bounds in self.ranges
        ]
        limits = tf.gather(tf.constant(limits, tf.float32), task)
        output = {
            "prediction": tf.clip_by_value(
                offset + scale * inner, limits[:, :1], limits[:, 1:]
            )
        }
        if "value" in batch:
            target = (tf.cast(batch["value"], tf.float32) - offset) / scale
            output["loss"] = tf.square(inner - target)
        return output

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "offsets": self.offsets,
            "scales": self.scales,
            "ranges": self.ranges,
        }
