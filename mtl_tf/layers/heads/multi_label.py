"""The output layer of multi-label tasks."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import (
    StackedLayer,
    check_label_counts,
    own_labels,
)
from mtl_tf.layers.heads import distillation
from mtl_tf.layers.task_dense import TaskDense


@keras.saving.register_keras_serializable(package="mtl_tf")
class MultiLabelHead(StackedLayer):
    """Scores each label of a text: `sigmoid(W^(k) h + b^(k))` for task k.

    The loss is the mean binary cross-entropy over the labels of the task
    ("binary relevance"; Read et al. 2011, section 2). Tasks may have different
    numbers of labels C_k. All outputs have the largest number, C, and the
    positions after a task's own labels get the score 0.

    Args:
        label_counts: the number of labels of each task.
        init: see `base.check_init`.

    Input shape: `encoded`, a scheme's outputs with "summary" `[G, B, H]`, and a
        batch with "task" int32 `[G]`, optionally "labels" `[G, B, C]`, 1 for
        each label that a text has and 0 for the others, and the entries that
        `distillation.with_teachers` reads.
    Output shape: a dictionary of "logits" and "scores" float32 `[G, B, C]`,
        "prediction" int32 `[G, B, C]`, 1 where the score is above a half, and,
        if there are labels, "loss" float32 `[G, B]`.
    Masking: none; padding rows get a loss too, which their weight removes.

    Example:
        ```python
        head = MultiLabelHead([3, 12])
        output = head({"summary": summary}, {"task": tf.constant([1])})
        ```
    """

    # The entry of a scheme's outputs that the head reads.
    reads = "summary"

    def __init__(self, label_counts: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        self.label_counts = check_label_counts(label_counts)
        self.dense = TaskDense(
            max(self.label_counts),
            len(self.label_counts),
            init=self.init,
            dtype=self.dtype_policy,
            name="dense",
        )

    def build(self, input_shape, *_):
        """Makes the weights for `{"summary": [G, B, H]}`."""
        self.dense.build(input_shape["summary"])
        mark(self.dense.kernel, self.dense.bias, label_axes=1)
        self.built = True

    def call(self, encoded, batch):
        """Scores a batch."""
        task = batch["task"]
        logits = tf.cast(self.dense(encoded["summary"], task), tf.float32)
        valid = own_labels(self.label_counts, task, logits.shape[-1])[:, None]
        # Its sigmoid is exactly 0, and no gradient becomes NaN.
        logits = tf.where(valid, logits, -1e9)
        output = {
            "logits": logits,
            "scores": tf.sigmoid(logits),
            "prediction": tf.cast(logits > 0, tf.int32),
        }
        if "labels" in batch:
            labels = tf.cast(batch["labels"], tf.float32)
            # A batch of a single task may have fewer labels than the largest
            # task.
            missing = logits.shape[-1] - tf.shape(labels)[-1]
            labels = tf.pad(labels, [[0, 0], [0, 0], [0, missing]])
            losses = tf.nn.sigmoid_cross_entropy_with_logits(
                tf.reshape(labels, tf.shape(logits)),
                tf.where(valid, logits, 0.0),
            )
            losses = tf.where(valid, losses, 0.0)
            count = tf.reduce_sum(tf.cast(valid, tf.float32), -1)
            output["loss"] = distillation.with_teachers(
                tf.reduce_sum(losses, -1) / count,
                logits,
                batch,
                distillation.sigmoid_loss(valid),
            )
        return output

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"label_counts": self.label_counts}
