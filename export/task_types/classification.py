"""Classification: the label of a text and the scores of all labels."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ..calibrated import Decisions, Temperatures
from ..serving import Tensors
from ..serving_sharing import ScoreAnswers, ServedTexts


class ClassAnswers(ScoreAnswers):
    """`label`, `scores` and `classes` of rows, from their probabilities."""

    def __init__(self, described, tasks):
        super().__init__(described, tasks)
        self._temperatures = Temperatures(described)
        self._decisions = Decisions(described)

    def __call__(self, scores, number, task=None, predicted=None) -> Tensors:
        """See `ScoreAnswers`."""
        classes = self.labels.of_rows(number, task)
        scores = scores[:, : classes.shape[1]]
        if predicted is None:
            predicted = tf.argmax(scores, 1, tf.int32)
        scores = self._temperatures.softmax(scores, number)
        label = self._decisions.labels(predicted, scores, number)
        return {
            "label": tf.gather(classes, label, batch_dims=1),
            "scores": scores,
            "classes": classes,
        }


class ServedClassification(ServedTexts):
    """Classification.

    Its signatures return `label` [batch], `scores` [batch, labels] and
    `classes` [batch, labels], the labels of the scores. The run's fitted
    temperatures and thresholds are applied.
    """

    answers = ClassAnswers

    def __init__(self, run, models, tasks, **options):
        super().__init__(run, models, tasks, **options)
        self._answers = ClassAnswers(self.described, self.tasks)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Zeros."""
        rows = tf.shape(features["tokens"])[0]
        return {
            "number": tf.zeros([rows], tf.int32),
            "scores": tf.zeros([rows, self._answers.labels.width]),
        }

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Label ids [batch] and scores [batch, width]."""
        scores = tf.cast(outputs["scores"][0], tf.float32)
        return {
            "number": outputs["prediction"][0],
            "scores": scores[:, : self._answers.labels.width],
        }

    def answer(self, results, beside, number, task=None) -> Tensors:
        """Labels, their scores and their names."""
        del beside
        return self._answers(results["scores"], number, task, results["number"])

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`label`, and `scores` by label."""
        scores = dict(zip(outputs["classes"], outputs["scores"]))
        return {"label": outputs["label"], "scores": scores}


TYPE = ServedClassification
