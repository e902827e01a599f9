"""Multi-label: the labels above their thresholds, and all probabilities."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.prediction.task_types.multi_label import thresholds_of

from ..calibrated import Temperatures
from ..serving import Tensors
from ..serving_sharing import ScoreAnswers, ServedTexts


class LabelSetAnswers(ScoreAnswers):
    """`labels`, `scores` and `classes` of rows, from their probabilities."""

    def __init__(self, described, tasks):
        super().__init__(described, tasks)
        shape = len(described), self.labels.width
        table = np.full(shape, 2.0, np.float32)
        for task in tasks:
            thresholds = thresholds_of(described[task])
            table[task, : len(thresholds)] = thresholds
        self._thresholds = tf.constant(table)
        self._temperatures = Temperatures(described)

    def __call__(self, scores, number, task=None, predicted=None) -> Tensors:
        """See `ScoreAnswers`."""
        del predicted
        classes = self.labels.of_rows(number, task)
        scores = scores[:, : classes.shape[1]]
        scores = self._temperatures.sigmoid(scores, number)
        limits = tf.gather(self._thresholds, tf.maximum(number, 0))
        is_reached = scores >= limits[:, : classes.shape[1]]
        return {
            "labels": tf.where(
                is_reached & (number >= 0)[:, None], classes, ""
            ),
            "scores": scores,
            "classes": classes,
        }


class ServedMultiLabel(ServedTexts):
    """Multi-label classification.

    Its signatures return for each label, [batch, labels]: `classes`, its name;
    `scores`, its probability; and `labels`, its name if the score reaches its
    threshold, else "".
    """

    answers = LabelSetAnswers

    def __init__(self, run, models, tasks, **options):
        super().__init__(run, models, tasks, **options)
        self._answers = LabelSetAnswers(self.described, self.tasks)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Zeros."""
        rows = tf.shape(features["tokens"])[0]
        return {"scores": tf.zeros([rows, self._answers.labels.width])}

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Scores [batch, width]."""
        scores = tf.cast(outputs["scores"][0], tf.float32)
        return {"scores": scores[:, : self._answers.labels.width]}

    def answer(self, results, beside, number, task=None) -> Tensors:
        """Names and scores of labels."""
        del beside
        return self._answers(results["scores"], number, task)

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`labels`, and `scores` by label."""
        return {
            "labels": [label for label in outputs["labels"] if label],
            "scores": dict(zip(outputs["classes"], outputs["scores"])),
        }


TYPE = ServedMultiLabel
