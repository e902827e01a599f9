"""Temperatures and thresholds of a run's tasks, in the served graph."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

# The same as in `mtl_tf.evaluation.probabilities`.
_SMALLEST = 1e-30
# Above every probability.
_NEVER = 2.0


class Temperatures:
    """The temperatures that divide the logits of each task.

    Args:
        tasks: the run's tasks, some with a fitted "temperature".
    """

    def __init__(self, tasks: Sequence[Mapping[str, Any]]):
        values = [float(task.get("temperature", 1.0)) for task in tasks]
        self._values = tf.constant(values, tf.float32)
        self._any = any(value != 1.0 for value in values)

    def _of_rows(self, number: tf.Tensor) -> tf.Tensor:
        return tf.gather(self._values, tf.maximum(number, 0))[:, None]

    def softmax(self, scores: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
        """Probabilities of labels, one of which each row has.

        Args:
            scores: the model's scores, float32 [batch, labels]; rows of zeros
                stay.
            number: int32 [batch], the task of each row; -1 if unknown.
        """
        if not self._any:
            return scores
        logits = tf.math.log(tf.maximum(scores, _SMALLEST))
        logits /= self._of_rows(number)
        logits -= tf.reduce_max(logits, 1, keepdims=True)
        powers = tf.where(scores > 0.0, tf.exp(logits), 0.0)
        total = tf.reduce_sum(powers, 1, keepdims=True)
        return tf.math.divide_no_nan(powers, total)

    def sigmoid(self, scores: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
        """Independent probabilities of labels; arguments as for `softmax`."""
        if not self._any:
            return scores
        odds = tf.math.log(tf.maximum(scores, _SMALLEST))
        odds -= tf.math.log(tf.maximum(1.0 - scores, _SMALLEST))
        # Exact zeros stay: there is no task, or it lacks the label.
        tempered = tf.sigmoid(odds / self._of_rows(number))
        return tf.where(scores > 0.0, tempered, 0.0)


class Decisions:
    """The probability thresholds for one label of a task.

    Args:
        tasks: the run's tasks, some with a fitted "decision".
    """

    def __init__(self, tasks: Sequence[Mapping[str, Any]]):
        self._any = any("decision" in task for task in tasks)
        places = np.full(len(tasks), -1, np.int32)
        thresholds = np.full(len(tasks), _NEVER, np.float32)
        for number, task in enumerate(tasks):
            if "decision" in task:
                label = task["decision"]["label"]
                places[number] = list(task["labels"]).index(label)
                thresholds[number] = task["decision"]["threshold"]
        self._places = tf.constant(places)
        self._thresholds = tf.constant(thresholds)

    def labels(
        self, predicted: tf.Tensor, scores: tf.Tensor, number: tf.Tensor
    ) -> tf.Tensor:
        """The predicted label ids after thresholds, int32 [batch].

        Args:
            predicted: the model's label ids, int32 [batch].
            scores: the served probabilities, [batch, labels].
            number: int32 [batch], the task of each row; -1 if unknown.
        """
        if not self._any:
            return predicted
        rows = tf.maximum(number, 0)
        decided_label = tf.gather(self._places, rows)
        is_decided = tf.one_hot(
            decided_label, tf.shape(scores)[1], True, False, dtype=tf.bool
        )
        score = tf.reduce_max(tf.where(is_decided, scores, -1.0), 1)
        reached = score >= tf.gather(self._thresholds, rows)
        best_other = tf.argmax(tf.where(is_decided, -1.0, scores), 1, tf.int32)
        decided = tf.where(reached, decided_label, best_other)
        return tf.where(
            (decided_label >= 0) & (number >= 0), decided, predicted
        )
