"""Scores of one label against all others, from 0 to 100, in NumPy."""

from collections.abc import Callable

import numpy as np


def f1(is_label, is_predicted, scores=None) -> float:
    """The harmonic mean of the label's precision and recall.

    Args:
        is_label: bool [n], which examples have the label.
        is_predicted: bool [n], of which it was predicted.
        scores: not used.

    Returns:
        A score from 0 to 100; 0 where the label neither is nor was predicted.
    """
    del scores
    correct = np.sum(is_label & is_predicted)
    marked = np.sum(is_label) + np.sum(is_predicted)
    return float(200.0 * correct / max(marked, 1))


def average_precision(is_label, is_predicted, scores) -> float:
    """The area below precision against recall.

    It is the sum of the precisions at each threshold, weighted by the gains in
    recall (as scikit-learn has it).

    Args:
        is_label: bool [n], which examples have the label.
        is_predicted: not used.
        scores: numbers [n], the higher the more probable the label is.

    Returns:
        A score from 0 to 100; 0 if no example has the label.
    """
    del is_predicted
    if not is_label.any():
        return 0.0
    correct, others = _above(is_label, scores)
    precision = correct / (correct + others)
    gained = np.diff(correct, prepend=0) / correct[-1]
    return float(100.0 * np.sum(precision * gained))


def roc_auc(is_label, is_predicted, scores) -> float:
    """The area below the rate of true against that of false positives.

    It is how probable an example with the label has a higher score than one
    without it, where equal ones count half.

    Args:
        is_label: bool [n], which examples have the label.
        is_predicted: not used.
        scores: numbers [n], the higher the more probable the label is.

    Returns:
        A score from 0 to 100; 50, that of chance, if all examples have the
        label or none has.
    """
    del is_predicted
    if is_label.all() or not is_label.any():
        return 50.0
    correct, others = (np.append(0, c) for c in _above(is_label, scores))
    area = np.sum(np.diff(others) * (correct[1:] + correct[:-1]) / 2.0)
    return float(100.0 * area / (correct[-1] * others[-1]))


def _above(is_label, scores) -> tuple[np.ndarray, np.ndarray]:
    """How many with the label, and without it, reach each threshold.

    Thresholds are the different scores, the highest first.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, values = is_label[order], scores[order]
    ends = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    return np.cumsum(ranked)[ends], np.cumsum(~ranked)[ends]


#: Functions of bool [n], bool [n] and numbers [n]: which examples have the
#: label, of which it was predicted, and its scores.
METRICS: dict[str, Callable[..., float]] = {
    "f1": f1,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
}
