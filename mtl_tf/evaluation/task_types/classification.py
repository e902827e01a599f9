"""Classification: accuracy, macro F1, confusion."""

from typing import Any

import numpy as np

from mtl_tf.evaluation import metrics
from mtl_tf.evaluation.mistakes import Mistake, highest_first
from mtl_tf.evaluation.probabilities import OneLabel
from mtl_tf.evaluation.scoring import Scorer, Scoring, TaskPredictions


class ClassScorer(Scorer):
    """Scores examples that have one label each."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {name: metrics.get(name) for name in task.metrics}
        self._names = list(task.class_names)
        self._labels = np.asarray(task.labels).reshape(-1)
        self._predictions = np.asarray(task.predictions).reshape(-1)
        self.size = len(self._labels)

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`."""
        labels = self._labels[selection]
        predictions = self._predictions[selection]
        scores: dict[str, Any] = {"examples": len(labels)}
        for name, metric in self._metrics.items():
            score = metric(labels, predictions)
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
    titles = {"accuracy": "accuracy", "macro_f1": "macro F1"}
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
