"""From which probability on a label is given, chosen on examples."""

import numpy as np

HALF = 0.5


def best_threshold(labels: np.ndarray, scores: np.ndarray) -> float:
    """The threshold of the best F1 of a label.

    Args:
        labels: bool [n].
        scores: float [n].

    Returns:
        A number half-way between two scores, so that none is near it; of
        equal F1 the one nearest to 0.5, which is also returned where no
        example has the label.
    """
    if not labels.any():
        return HALF
    edges, correct, predicted = _cuts(labels, scores)
    f1 = 2.0 * correct / (predicted + labels.sum())
    best = edges[f1 >= f1.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - HALF))])


def threshold_of_precision(
    labels: np.ndarray, scores: np.ndarray, precision: float
) -> tuple[float | None, float]:
    """The lowest threshold with a precision: that of the highest recall.

    Args:
        labels: bool [n].
        scores: float [n].
        precision: from 0 to 1, of the examples that reach the threshold.

    Returns:
        A number half-way between two scores, or None where no threshold has
        that precision; and the highest precision that one has.
    """
    if not labels.any():
        return None, 0.0
    edges, correct, predicted = _cuts(labels, scores)
    precisions = correct / predicted
    enough = np.flatnonzero(precisions >= precision - 1e-12)
    threshold = float(edges[enough[-1]]) if len(enough) else None
    return threshold, float(precisions.max())


def _cuts(
    labels: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All thresholds, high to low, and how many are right and are given."""
    order = np.argsort(-scores, kind="stable")
    values = scores[order].astype(np.float64)
    # Each cut is behind the last of equal scores.
    cuts = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    correct = np.cumsum(labels[order])[cuts]
    below = np.append(values[cuts[:-1] + 1], 0.0)
    return (values[cuts] + below) / 2, correct, cuts + 1
