"""Classification: the label of a text and the scores of all labels."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ..calibrated import Decisions, Temperatures
from ..serving import Tensors
from ..serving_sharing import ServedLabels, ServedTexts


class ServedClassification(ServedTexts, ServedLabels):
    """Classification.

    Its signatures return `label` [batch], `scores` [batch, labels] and
    `classes` [batch, labels], the labels of the scores. The run's fitted
    temperatures and thresholds are applied.
    """

    def __init__(self, run, models, tasks, **options):
        super().__init__(run, models, tasks, **options)
        self._temperatures = Temperatures(self.described)
        self._decisions = Decisions(self.described)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Zeros."""
        rows = tf.shape(features["tokens"])[0]
        return {
            "number": tf.zeros([rows], tf.int32),
            "scores": tf.zeros([rows, self.width]),
        }

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Label ids [batch] and scores [batch, width]."""
        scores = tf.cast(outputs["scores"][0], tf.float32)
        return {
            "number": outputs["prediction"][0],
            "scores": scores[:, : self.width],
        }

    def answer(self, results, beside, number, task=None) -> Tensors:
        """Labels, their scores and their names."""
        del beside
        classes = self.classes_of(number, task)
        scores = results["scores"][:, : classes.shape[1]]
        scores = self._temperatures.softmax(scores, number)
        label = self._decisions.labels(results["number"], scores, number)
        return {
            "label": tf.gather(classes, label, batch_dims=1),
            "scores": scores,
            "classes": classes,
        }

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`label`, and `scores` by label."""
        scores = dict(zip(outputs["classes"], outputs["scores"]))
        return {"label": outputs["label"], "scores": scores}


TYPE = ServedClassification
