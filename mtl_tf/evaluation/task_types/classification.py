"""Classification: scores of labels, and the confusion matrix."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mtl_tf.evaluation.metrics import binary_metrics, metrics
from mtl_tf.evaluation.mistakes import Mistake, highest_first
from mtl_tf.evaluation.probabilities import OneLabel
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
)
from mtl_tf.tasks.labels.positive_label import positive_label


def _metric(name: str) -> Callable[..., float]:
    if name in binary_metrics.METRICS:
        return binary_metrics.METRICS[name]
    return metrics.get(name)


class ClassScorer(Scorer):
    """Scores examples with one label each."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {name: _metric(name) for name in task.metrics}
        self._names = list(task.class_names)
        self._labels = np.asarray(task.labels).reshape(-1)
        self._predictions = np.asarray(task.predictions).reshape(-1)
        self.size = len(self._labels)
        self._positive = None
        if any(name in binary_metrics.METRICS for name in task.metrics):
            positive = positive_label(self._names, task.settings)
            self._positive = self._names.index(positive)
            self._scores = self._scores_of(task, self._positive)

    def _scores_of(self, task: TaskPredictions, place: int) -> np.ndarray:
        """The probability of a label for each example, float64 [n]."""
        if task.scores is None:
            # Predictors such as the most frequent label give no probabilities.
            return (self._predictions == place).astype(np.float64)
        check_length(task.name, "scores", task.scores, self.size)
        scores = np.asarray(task.scores, np.float64)
        return scores.reshape(self.size, -1)[:, place]

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`."""
        labels = self._labels[selection]
        predictions = self._predictions[selection]
        scores: dict[str, Any] = {"examples": len(labels)}
        columns = (labels, predictions)
        if self._positive is not None:
            is_positive = (column == self._positive for column in columns)
            of_positive = (*is_positive, self._scores[selection])
        for name, metric in self._metrics.items():
            is_binary = name in binary_metrics.METRICS
            score = metric(*(of_positive if is_binary else columns))
            scores[name] = score if len(labels) else None
        return scores

    def details(self) -> dict[str, Any]:
        """The confusion matrix: rows are labels, columns predictions."""
        matrix = metrics.confusion_matrix(
            self._labels, self._predictions, len(self._names)
        )
        table = matrix.astype(int).tolist()
        return {"confusion": {"classes": self._names, "matrix": table}}


class ClassScoring(Scoring):
    """One label for each example."""

    scorer = ClassScorer
    titles = {
        "accuracy": "accuracy",
        "macro_f1": "macro F1",
        "weighted_f1": "weighted F1",
        "balanced_accuracy": "balanced accuracy",
        "mcc": "Matthews correlation",
        "quadratic_kappa": "quadratic kappa",
        "f1": "binary F1",
        "roc_auc": "ROC AUC",
        "average_precision": "average precision",
    }
    measure = "confidence"
    probabilities = OneLabel()

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """The wrong labels, those of the highest probability first."""
        pairs = enumerate(zip(task.labels, task.predictions, strict=True))
        return highest_first(
            [
                Mistake(
                    number,
                    self.readable(task, label),
                    self.readable(task, prediction),
                    None
                    if task.scores is None
                    else float(task.scores[number][int(prediction)]),
                )
                for number, (label, prediction) in pairs
                if label != prediction
            ]
        )

    def readable(self, task: TaskPredictions, value: Any) -> str:
        """The label's name."""
        return task.class_names[int(value)]


TYPE = ClassScoring()
