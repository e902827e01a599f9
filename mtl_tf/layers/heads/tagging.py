"""The output layer of tagging tasks."""

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
from mtl_tf.layers.crf.constraints import Constraints
from mtl_tf.layers.crf.crf import CRF
from mtl_tf.layers.task_dense import TaskDense

DECODERS = ("crf", "softmax")


@keras.saving.register_keras_serializable(package="mtl_tf")
class TaggingHead(StackedLayer):
    """Tags the tokens of a text: `x_t = W^(k) h_t + b^(k)` for task k.

    The logits x of a sentence are decoded by the task's own CRF (the output
    layer for tagging of Chen et al. 2018; see `CRF`), or separately by a
    softmax. Tasks may have different numbers of labels C_k. All outputs have
    the largest number, C. The positions after a task's own labels get the score
    0 and are never predicted.

    Args:
        label_counts: the number of labels of each task.
        decoder: "crf" or "softmax".
        constraints: forbidden transitions of the CRF: a list with a
            `Constraints`, or None, for each task.
        per_token: divide a sentence's loss by its number of tokens. This makes
            it comparable to the losses of labels of whole texts.
        init: see `base.check_init`.

    Input shape: `encoded`, a scheme's outputs with "sequence" `[G, B, T, H]`
        and "mask" bool `[G, B, T]`; a batch with "task" int32 `[G]` and
        optionally "tags" int32 `[G, B, T]`.
    Output shape: a dictionary of float32 "logits" and "scores" `[G, B, T, C]`,
        the labels' (marginal) probabilities; "prediction" int32 `[G, B, T]`;
        "confidence" float32 `[G, B, T]`, the predictions' scores; and, if there
        are tags, "loss" float32 `[G, B]`, the negative log-likelihood of a
        whole sentence, or its share per token.
    Masking: padding changes nothing. Its scores, predictions and confidences
        are 0. A sentence without tokens has the loss 0.

    Example:
        ```python
        head = TaggingHead([45, 9])
        encoded = {"sequence": hidden, "mask": mask}
        tags = head(encoded, {"task": tf.constant([1])})["prediction"]
        ```
    """

    # The entry of a scheme's outputs that the head reads.
    reads = "sequence"

    def __init__(
        self,
        label_counts: Sequence[int],
        decoder: str = "crf",
        constraints: Sequence[Constraints | None] | None = None,
        per_token: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.per_token = checks.boolean("per_token", per_token)
        self.label_counts = check_label_counts(label_counts)
        self.decoder = checks.one_of("decoder", decoder, DECODERS)
        units, tasks = max(self.label_counts), len(self.label_counts)
        options = {"init": self.init, "dtype": self.dtype_policy}
        self.dense = TaskDense(units, tasks, name="dense", **options)
        self.crf = None
        if self.decoder == "crf":
            self.crf = CRF(
                units,
                tasks,
                self.label_counts,
                constraints,
                name="crf",
                **options,
            )
        elif constraints is not None:
            raise ConfigError("the decoder 'softmax' has no constraints")

    def build(self, input_shape, *_):
        """Makes the weights for `{"sequence": [G, B, T, H]}`."""
        self.dense.build(input_shape["sequence"])
        mark(self.dense.kernel, self.dense.bias, label_axes=1)
        if self.crf:
            self.crf.build()
        self.built = True

    def call(self, encoded, batch):
        """Tags a batch."""
        task, mask, tags = batch["task"], encoded["mask"], batch.get("tags")
        logits = self.dense(encoded["sequence"], task)
        logits = tf.cast(logits, tf.float32)
        decode = self.crf or self._by_softmax
        output = decode(logits, mask, tags, task)
        if self.per_token and "loss" in output:
            tokens = tf.reduce_sum(tf.cast(mask, tf.float32), -1)
            output["loss"] /= tf.maximum(tokens, 1.0)
        return output

    def _by_softmax(self, logits, mask, tags, task):
        valid = own_labels(self.label_counts, task, logits.shape[-1])
        # The exponential is exactly 0, and no gradient becomes NaN.
        logits = tf.where(valid[:, None, None], logits, -1e9)
        scores = tf.where(mask[..., None], tf.nn.softmax(logits), 0.0)
        best = tf.argmax(logits, -1, output_type=tf.int32)
        output = {
            "logits": logits,
            "scores": scores,
            "prediction": tf.where(mask, best, 0),
            "confidence": tf.reduce_max(scores, -1),
        }
        if tags is not None:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                tf.where(mask, tags, 0), logits
            )
            output["loss"] = tf.reduce_sum(tf.where(mask, losses, 0.0), -1)
        return output

    def get_config(self) -> dict:
        """The constructor's arguments."""
        constraints = self.crf and self.crf.get_config()["constraints"]
        return super().get_config() | {
            "label_counts": self.label_counts,
            "decoder": self.decoder,
            "constraints": constraints,
            "per_token": self.per_token,
        }
