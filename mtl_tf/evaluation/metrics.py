"""Scores of predictions, from 0 to 100, in NumPy."""

from collections.abc import Callable, Sequence

import numpy as np

from mtl_tf.core.names import look_up

Metric = Callable[..., float]


def _checked(labels, predictions, weights):
    labels = np.asarray(labels, dtype=np.int64).reshape(-1)
    predictions = np.asarray(predictions, dtype=np.int64).reshape(-1)
    if weights is None:
        weights = np.ones(len(labels))
    weights = np.asarray(weights, dtype=np.float64).reshape(-1)
    if not len(labels) == len(predictions) == len(weights):
        raise ValueError(
            "labels, predictions and weights must have one length, got "
            f"{len(labels)}, {len(predictions)} and {len(weights)}"
        )
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError("weights must be finite and zero or positive")
    return labels, predictions, weights


def accuracy(labels, predictions, weights=None) -> float:
    """Percentage of examples whose prediction is the label.

    Args:
        labels: integers [n].
        predictions: integers [n].
        weights: numbers [n] that say how much each example counts; all 1
            if None.

    Returns:
        A score from 0 to 100; 0 if there is nothing to count.
    """
    labels, predictions, weights = _checked(labels, predictions, weights)
    total = weights.sum()
    if total == 0:
        return 0.0
    return float(100.0 * weights[labels == predictions].sum() / total)


def confusion_matrix(
    labels, predictions, classes: int | None = None, weights=None
) -> np.ndarray:
    """How often each label was predicted as each class.

    Args:
        labels: integers [n].
        predictions: integers [n].
        classes: number of classes; by default as many as occur.
        weights: numbers [n]; all 1 if None.

    Returns:
        float64 [classes, classes]: rows are labels, columns predictions.

    Raises:
        ValueError: a label or a prediction is not in 0..classes-1.
    """
    labels, predictions, weights = _checked(labels, predictions, weights)
    indices = np.concatenate([labels, predictions])
    if classes is None:
        classes = int(indices.max()) + 1 if len(indices) else 0
    outside = indices[(indices < 0) | (indices >= classes)]
    if len(outside):
        raise ValueError(
            f"labels and predictions must be in 0..{classes - 1}, "
            f"got {outside[0]}"
        )
    cells = np.bincount(
        labels * classes + predictions, weights, minlength=classes * classes
    )
    return cells.reshape(classes, classes)


def of_classes(matrix: Sequence[Sequence[float]]) -> list[dict[str, float]]:
    """Precision, recall and F1 of each class of a confusion matrix.

    Args:
        matrix: [classes, classes]: rows are labels, columns predictions.

    Returns:
        Of each class its "precision", "recall" and "f1", from 0 to 100, 0
        where nothing is to be divided; and "support", how many have it.
    """
    cells = np.asarray(matrix, dtype=np.float64)
    correct, support, predicted = np.diag(cells), cells.sum(1), cells.sum(0)
    return [
        {
            "precision": float(100.0 * correct[n] / max(predicted[n], 1)),
            "recall": float(100.0 * correct[n] / max(support[n], 1)),
            "f1": float(200.0 * correct[n] / max(predicted[n] + support[n], 1)),
            "support": int(support[n]),
        }
        for n in range(len(cells))
    ]


def macro_f1(labels, predictions, weights=None) -> float:
    """Mean over classes of F1, the harmonic mean of precision and recall.

    The classes are those that occur among the labels or the predictions (as
    in scikit-learn): a class that a set lacks does not count against it.

    Args:
        labels: integers [n].
        predictions: integers [n].
        weights: numbers [n]; all 1 if None.

    Returns:
        A score from 0 to 100; 0 if there is nothing to count.
    """
    matrix = confusion_matrix(labels, predictions, None, weights)
    correct = np.diag(matrix)
    occurrences = matrix.sum(axis=0) + matrix.sum(axis=1)
    present = occurrences > 0
    if not present.any():
        return 0.0
    return float(100.0 * np.mean(2 * correct[present] / occurrences[present]))


METRICS: dict[str, Metric] = {"accuracy": accuracy, "macro_f1": macro_f1}


def get(name: str) -> Metric:
    """The metric of that name: a function (labels, predictions, weights).

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric")
