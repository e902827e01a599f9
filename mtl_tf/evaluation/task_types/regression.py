"""Regression: correlations and errors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mtl_tf.evaluation.mistakes import Mistake, highest_first
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
)


def pearson(labels: np.ndarray, predictions: np.ndarray) -> float:
    """100 times Pearson's correlation; 0 if one side is constant."""
    if not (_vary(labels) and _vary(predictions)):
        return 0.0
    a, b = labels - labels.mean(), predictions - predictions.mean()
    size = np.sqrt(np.sum(a * a) * np.sum(b * b))
    return 100.0 * float(np.sum(a * b) / size) if size > 0 else 0.0


def spearman(labels: np.ndarray, predictions: np.ndarray) -> float:
    """100 times Spearman's correlation, Pearson's of the ranks."""
    return pearson(_ranks(labels), _ranks(predictions))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[place]


def mse(labels: np.ndarray, predictions: np.ndarray) -> float:
    """The mean squared error, in squared units of the values."""
    return float(np.mean(np.square(labels - predictions)))


def mae(labels: np.ndarray, predictions: np.ndarray) -> float:
    """The mean absolute error, in units of the values."""
    return float(np.mean(np.abs(labels - predictions)))


def rmse(labels: np.ndarray, predictions: np.ndarray) -> float:
    """The root of the mean squared error, in units of the values."""
    return float(np.sqrt(mse(labels, predictions)))


def r2(labels: np.ndarray, predictions: np.ndarray) -> float:
    """100 times the share of the values' variance that is explained.

    At most 100. Predicting the mean gives 0, and so do constant values.
    """
    variance = float(np.var(labels)) if _vary(labels) else 0.0
    if variance == 0.0:
        return 0.0
    return 100.0 * (1.0 - mse(labels, predictions) / variance)


def _vary(values: np.ndarray) -> bool:
    # The mean of equal values may be another number: their variance may be
    # tiny, but not 0.
    return bool(np.any(values != values[0]))


METRICS: dict[str, Callable[..., float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "r2": r2,
    "mse": mse,
    "rmse": rmse,
    "mae": mae,
}


class NumberScorer(Scorer):
    """Scores examples with one number each."""

    def __init__(self, task: TaskPredictions):
        self._metrics = {name: METRICS[name] for name in task.metrics}
        self._labels = np.asarray(task.labels, np.float64).reshape(-1)
        predictions = np.asarray(task.predictions, np.float64).reshape(-1)
        self._predictions, self.size = predictions, len(self._labels)
        check_length(task.name, "predictions", predictions, self.size)

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`."""
        labels = self._labels[selection]
        predictions = self._predictions[selection]
        return {"examples": len(labels)} | {
            name: metric(labels, predictions) if len(labels) else None
            for name, metric in self._metrics.items()
        }


class NumberScoring(Scoring):
    """A number for each example."""

    scorer = NumberScorer
    titles = {
        "pearson": "Pearson",
        "spearman": "Spearman",
        "r2": "R2",
        "mse": "MSE",
        "rmse": "RMSE",
        "mae": "MAE",
    }
    digits = dict.fromkeys(("mse", "rmse", "mae"), 4)
    measure = "error"

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """All examples, the largest absolute error first."""
        pairs = enumerate(zip(task.labels, task.predictions, strict=True))
        return highest_first(
            [
                Mistake(number, float(a), float(b), abs(float(a) - float(b)))
                for number, (a, b) in pairs
            ]
        )

    def readable(self, task: TaskPredictions, value: Any) -> float:
        """The number."""
        return float(value)


TYPE = NumberScoring()
