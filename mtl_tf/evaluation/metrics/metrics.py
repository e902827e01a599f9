"""Scores of predictions, from 0 to 100, in NumPy."""

from collections.abc import Callable, Sequence

import numpy as np

from mtl_tf.core.names import look_up

Metric = Callable[..., float]


def _checked(labels, predictions) -> tuple[np.ndarray, np.ndarray]:
    labels = np.asarray(labels, dtype=np.int64).reshape(-1)
    predictions = np.asarray(predictions, dtype=np.int64).reshape(-1)
    if len(labels) != len(predictions):
        raise ValueError(
            "labels and predictions must have one length, got "
            f"{len(labels)} and {len(predictions)}"
        )
    return labels, predictions


def accuracy(labels, predictions) -> float:
    """Percentage of examples whose prediction is the label.

    Args:
        labels: integers [n].
        predictions: integers [n].

    Returns:
        A score from 0 to 100; 0 if there are no examples.
    """
    labels, predictions = _checked(labels, predictions)
    return float(100.0 * np.sum(labels == predictions) / max(len(labels), 1))


def confusion_matrix(
    labels, predictions, classes: int | None = None
) -> np.ndarray:
    """How often each label was predicted as each class.

    Args:
        labels: integers [n].
        predictions: integers [n].
        classes: the number of classes; by default the largest id + 1.

    Returns:
        float64 [classes, classes]: rows are labels, columns predictions.

    Raises:
        ValueError: a label or a prediction is not in 0..classes-1.
    """
    labels, predictions = _checked(labels, predictions)
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
        labels * classes + predictions, minlength=classes * classes
    )
    return cells.reshape(classes, classes).astype(np.float64)


def of_classes(matrix: Sequence[Sequence[float]]) -> list[dict[str, float]]:
    """Precision, recall and F1 of each class of a confusion matrix.

    Args:
        matrix: [classes, classes]: rows are labels, columns predictions.

    Returns:
        For each class its "precision", "recall" and "f1", from 0 to 100, or 0
        instead of a division by 0; and "support", how many examples have it.
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


def macro_f1(labels, predictions) -> float:
    """Mean over classes of F1, the harmonic mean of precision and recall.

    The classes are those that occur among the labels or the predictions, as in
    scikit-learn. A class that does not occur does not lower the score.

    Args:
        labels: integers [n].
        predictions: integers [n].

    Returns:
        A score from 0 to 100; 0 if there are no examples.
    """
    matrix = confusion_matrix(labels, predictions)
    correct = np.diag(matrix)
    occurrences = matrix.sum(axis=0) + matrix.sum(axis=1)
    present = occurrences > 0
    if not present.any():
        return 0.0
    return float(100.0 * np.mean(2 * correct[present] / occurrences[present]))


def weighted_f1(labels, predictions) -> float:
    """Mean F1 of the classes, weighted by their numbers of examples.

    Arguments and result are those of `macro_f1`.
    """
    classes = of_classes(confusion_matrix(labels, predictions))
    total = sum(scores["support"] for scores in classes)
    return sum(c["support"] * c["f1"] for c in classes) / max(total, 1)


def balanced_accuracy(labels, predictions) -> float:
    """Mean recall of the classes that occur among the labels.

    Arguments and result are those of `macro_f1`.
    """
    classes = of_classes(confusion_matrix(labels, predictions))
    recalls = [scores["recall"] for scores in classes if scores["support"]]
    return float(np.mean(recalls)) if recalls else 0.0


def mcc(labels, predictions) -> float:
    """Matthews' correlation coefficient, for any number of classes.

    The correlation of labels and predictions (R_K of Gorodkin 2004), the metric
    of CoLA in GLUE.

    Args:
        labels: integers [n].
        predictions: integers [n].

    Returns:
        A score from -100 to 100; 0 where all labels, or all predictions, are
        the same.
    """
    matrix = confusion_matrix(labels, predictions)
    total = matrix.sum()
    support, predicted = matrix.sum(axis=1), matrix.sum(axis=0)
    covariance = np.trace(matrix) * total - support @ predicted
    variances = [total**2 - sizes @ sizes for sizes in (support, predicted)]
    scale = np.sqrt(np.prod(variances))
    return float(100.0 * covariance / scale) if scale > 0 else 0.0


def quadratic_kappa(labels, predictions) -> float:
    """Cohen's kappa with squared distances, for ordered labels.

    A prediction k places off costs k^2 (Cohen 1968). It suits stars or grades,
    if the labels are in that order.

    Args:
        labels: integers [n].
        predictions: integers [n].

    Returns:
        A score of at most 100; 0 at chance level, and if all labels and
        predictions are the same.
    """
    matrix = confusion_matrix(labels, predictions)
    places = np.arange(len(matrix))
    costs = (places[:, None] - places) ** 2
    by_chance = np.outer(matrix.sum(axis=1), matrix.sum(axis=0))
    expected = np.sum(costs * by_chance)
    if not expected:
        return 0.0
    observed = np.sum(costs * matrix) * matrix.sum()
    return float(100.0 * (1.0 - observed / expected))


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "quadratic_kappa": quadratic_kappa,
}


def get(name: str) -> Metric:
    """The metric of that name: a function (labels, predictions).

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric")
