"""The output layer of classification tasks."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import (
    StackedLayer,
    check_label_counts,
    own_labels,
)
from mtl_tf.layers.heads import distillation
from mtl_tf.layers.task_dense import TaskDense

SHARING = ("private", "shared")


@keras.saving.register_keras_serializable(package="mtl_tf")
class ClassificationHead(StackedLayer):
    """Scores a text's summary: `softmax(W^(k) h + b^(k))` for task k.

    Equation 8 of Chen et al. (2018); the loss is equation 9, per example. Tasks
    may have different numbers of labels C_k. All outputs have the largest
    number, C, and the positions after a task's own labels get the score 0.

    Args:
        label_counts: the number of labels of each task, each at least 2.
        sharing: "private" for one map per task or "shared" for one map for all
            tasks, as the L-I of Sun (2019, section 3.2.3) allows where the
            tasks' rows already tell them apart.
        class_weights: for each task, the loss factors of its labels, as a list;
            None if all are 1.
        label_smoothing: epsilon of Szegedy et al. (2016). In training the label
            gets 1 - epsilon of the target, and all labels of the task,
            including this one, share the rest evenly.
        init: see `base.check_init`.

    Input shape: `encoded`, a scheme's outputs with "summary" `[G, B, H]`, and a
        batch with "task" int32 `[G]`, optionally "label" int32 `[G, B]`, and
        the entries that `distillation.with_teachers` reads.
    Output shape: a dictionary of "logits" and "scores" float32 `[G, B, C]`,
        "prediction" int32 `[G, B]` and, if there are labels, "loss" float32
        `[G, B]`.
    Masking: none; padding rows get a loss too, which their weight removes.

    Raises:
        ConfigError: a shared head for unequal numbers of labels, or class
            weights that do not match the labels.

    Example:
        ```python
        head = ClassificationHead([2, 5])
        output = head({"summary": summary}, {"task": tf.constant([1])})
        ```
    """

    # The entry of a scheme's outputs that the head reads.
    reads = "summary"

    def __init__(
        self,
        label_counts: Sequence[int],
        sharing: str = "private",
        class_weights: Sequence[Sequence[float] | None] | None = None,
        label_smoothing: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.label_counts = check_label_counts(label_counts)
        self.sharing = checks.one_of("head.sharing", sharing, SHARING)
        if self.is_shared and len(set(self.label_counts)) > 1:
            raise ConfigError(
                "head.sharing must be 'private' where tasks have unequal "
                f"numbers of labels, got 'shared' for {self.label_counts}"
            )
        self.class_weights = None
        if class_weights is not None:
            self.class_weights = self._checked(class_weights)
        self.label_smoothing = checks.fraction(
            "head.label_smoothing", label_smoothing
        )
        self.dense = TaskDense(
            max(self.label_counts),
            0 if self.is_shared else len(self.label_counts),
            init=self.init,
            dtype=self.dtype_policy,
            name="dense",
        )

    @property
    def is_shared(self) -> bool:
        """Whether one map serves all tasks."""
        return self.sharing == "shared"

    def build(self, input_shape, *_):
        """Makes the weights for `{"summary": [G, B, H]}`."""
        self.dense.build(input_shape["summary"])
        mark(self.dense.kernel, self.dense.bias, label_axes=1)
        self.built = True

    def call(self, encoded, batch, training: bool = False):
        """Scores a batch."""
        task = batch["task"]
        logits = self.dense(encoded["summary"], task)
        logits = self._own_labels(tf.cast(logits, tf.float32), task)
        output = {
            "logits": logits,
            "scores": tf.nn.softmax(logits),
            "prediction": tf.argmax(logits, -1, output_type=tf.int32),
        }
        if "label" in batch:
            output["loss"] = tf.nn.sparse_softmax_cross_entropy_with_logits(
                batch["label"], logits
            )
            if training and self.label_smoothing:
                output["loss"] = self._smoothed(output["loss"], logits, task)
            if self.class_weights is not None:
                factors = tf.gather(tf.constant(self.class_weights), task)
                output["loss"] *= tf.gather(
                    factors, batch["label"], batch_dims=1
                )
            output["loss"] = distillation.with_teachers(
                output["loss"], logits, batch, distillation.softmax_loss
            )
        return output

    def _checked(self, weights) -> list[list[float]]:
        """The factors of all tasks' labels, padded to the same length."""
        rows = []
        for number, (factors, count) in enumerate(
            zip(weights, self.label_counts, strict=True)
        ):
            factors = [1.0] * count if factors is None else list(factors)
            if len(factors) != count:
                raise ConfigError(
                    f"class_weights of task {number} must be {count} numbers, "
                    f"one for each label, got {len(factors)}"
                )
            for factor in factors:
                checks.positive("class_weights", factor)
            missing = max(self.label_counts) - count
            rows.append([*map(float, factors), *[1.0] * missing])
        return rows

    def _smoothed(self, losses, logits, task):
        """The losses with label smoothing."""
        valid = own_labels(self.label_counts, task, logits.shape[-1])[:, None]
        logarithms = tf.where(valid, tf.nn.log_softmax(logits), 0.0)
        counts = tf.gather(tf.constant(self.label_counts), task)[:, None]
        mean = tf.reduce_sum(logarithms, -1) / tf.cast(counts, tf.float32)
        return losses - self.label_smoothing * (losses + mean)

    def _own_labels(self, logits, task):
        """Makes the logits after a task's own labels very low."""
        if len(set(self.label_counts)) == 1:
            return logits
        valid = own_labels(self.label_counts, task, logits.shape[-1])[:, None]
        # Its exponential is exactly 0, and no gradient becomes NaN.
        return tf.where(valid, logits, -1e9)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "label_counts": self.label_counts,
            "sharing": self.sharing,
            "class_weights": self.class_weights
            and [
                factors[:count]
                for factors, count in zip(self.class_weights, self.label_counts)
            ],
            "label_smoothing": self.label_smoothing,
        }
