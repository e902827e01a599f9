"""Multi-label: F1 over all labels and by label, average precision."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mtl_tf.evaluation.metrics import binary_metrics
from mtl_tf.evaluation.mistakes import Mistake, highest_first
from mtl_tf.evaluation.probabilities import AnyLabels
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
)


def _f1(labels: np.ndarray, predictions: np.ndarray, axis: int | None):
    """F1 over all cells, or of each label; 0 if there are no positives."""
    correct = np.sum(labels & predictions, axis=axis)
    marked = np.sum(labels, axis=axis) + np.sum(predictions, axis=axis)
    return 2.0 * correct / np.maximum(marked, 1)


def micro_f1(labels, predictions, scores) -> float:
    """F1 over the decisions on all labels of all examples."""
    del scores
    return 100.0 * float(_f1(labels, predictions, None))


def macro_f1(labels, predictions, scores) -> float:
    """The mean of the labels' F1; a label that no example has counts 0."""
    del scores
    return 100.0 * float(np.mean(_f1(labels, predictions, 0)))


def subset_accuracy(labels, predictions, scores) -> float:
    """Percentage of examples all of whose labels are right."""
    del scores
    return 100.0 * float(np.mean(np.all(labels == predictions, axis=1)))


def average_precision(labels, predictions, scores) -> float:
    """The mean over labels of the area under the precision-recall curve.

    Only labels with at least one example count. It needs no threshold; see
    `binary_metrics.average_precision`.
    """
    del predictions
    areas = [
        binary_metrics.average_precision(labels[:, n], None, scores[:, n])
        for n in range(labels.shape[1])
        if labels[:, n].any()
    ]
    return float(np.mean(areas)) if areas else 0.0


METRICS: dict[str, Callable[..., float]] = {
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "average_precision": average_precision,
    "subset_accuracy": subset_accuracy,
}


class LabelSetScorer(Scorer):
    """Scores examples with any number of labels each."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {name: METRICS[name] for name in task.metrics}
        self._names = list(task.class_names)
        width = len(self._names)
        self._labels, self._predictions = (
            np.asarray(part)[:, :width].astype(bool)
            if len(part)
            else np.zeros([0, width], bool)
            for part in (task.labels, task.predictions)
        )
        self.size = len(self._labels)
        check_length(task.name, "predictions", self._predictions, self.size)
        scores = task.scores if task.scores is not None else self._predictions
        self._scores = np.asarray(scores, np.float64)
        if self.size:
            self._scores = self._scores[:, :width]
        check_length(task.name, "scores", self._scores, self.size)

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`."""
        columns = (self._labels, self._predictions, self._scores)
        columns = [column[selection] for column in columns]
        examples = len(columns[0])
        return {"examples": examples} | {
            name: metric(*columns) if examples else None
            for name, metric in self._metrics.items()
        }

    def details(self) -> dict[str, Any]:
        """Precision, recall and F1 of each label."""
        correct = np.sum(self._labels & self._predictions, axis=0)
        marked = np.sum(self._predictions, axis=0)
        support = np.sum(self._labels, axis=0)
        f1 = _f1(self._labels, self._predictions, 0)
        return {
            "types": {
                name: {
                    "precision": 100.0 * float(correct[n] / max(marked[n], 1)),
                    "recall": 100.0 * float(correct[n] / max(support[n], 1)),
                    "f1": 100.0 * float(f1[n]),
                    "support": int(support[n]),
                }
                for n, name in enumerate(self._names)
            }
        }


class LabelSetScoring(Scoring):
    """Any number of labels for each example."""

    scorer = LabelSetScorer
    titles = {
        "micro_f1": "micro F1",
        "average_precision": "average precision",
        "subset_accuracy": "subset accuracy",
    }
    measure = "confidence"
    probabilities = AnyLabels()

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """Examples with a wrong decision, the most confident one first.

        The confidence in a predicted label is its probability, and in a label
        left out 1 minus its probability.
        """
        mistakes = []
        pairs = enumerate(zip(task.labels, task.predictions, strict=True))
        for number, (labels, predictions) in pairs:
            wrong = [
                n
                for n in range(len(task.class_names))
                if labels[n] != predictions[n]
            ]
            if not wrong:
                continue
            sure = None
            if task.scores is not None:
                scores = task.scores[number]
                sure = max(
                    float(scores[n] if predictions[n] else 1 - scores[n])
                    for n in wrong
                )
            names = (
                self.readable(task, labels),
                self.readable(task, predictions),
            )
            mistakes.append(Mistake(number, *names, sure))
        return highest_first(mistakes)

    def readable(self, task: TaskPredictions, value: Any) -> list[str]:
        """The labels' names."""
        return [name for name, has in zip(task.class_names, value) if has]


TYPE = LabelSetScoring()
