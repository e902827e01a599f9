"""Probability thresholds of labels, chosen on examples."""

import numpy as np

HALF = 0.5
#: Above every probability.
_NEVER = float(np.nextafter(np.float32(1), np.float32(2)))
# With fewer examples, a label gets no threshold of its own.
_FEW = 3


def best_threshold(labels: np.ndarray, scores: np.ndarray) -> float:
    """The threshold with a label's best F1.

    Args:
        labels: bool [n].
        scores: float [n].

    Returns:
        A number half-way between two scores, so that no score is close to it.
        Of thresholds with equal F1, the one nearest to 0.5. If no example has
        the label, 0.5.
    """
    if not labels.any():
        return HALF
    edges, correct, predicted = _cuts(labels, scores)
    f1 = 2.0 * correct / (predicted + labels.sum())
    best = edges[f1 >= f1.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - HALF))])


def micro_thresholds(labels: np.ndarray, scores: np.ndarray) -> list[float]:
    """The thresholds of all labels that maximise micro F1.

    The best F1 of each single label is no substitute. A rare label that the
    model does not know has its best F1 if most examples get it (Lipton et al.
    2014, "Optimal Thresholding of Classifiers to Maximize F1 Measure"), and
    these examples lower the micro F1. Given a micro F1 of F, each label
    separately maximises 2 correct - F predicted. F grows until it is constant,
    which is the optimum (Dinkelbach 1967, "On Nonlinear Fractional
    Programming").

    Labels with one or two examples share a threshold, which is fitted on all
    these examples. With a threshold of its own, each would follow the chance
    score of a single example, and be predicted far too often.

    Args:
        labels: bool [n, labels].
        scores: float [n, labels].

    Returns:
        For each label a number as of `best_threshold`: 0.5 if no example has
        the label, and a number above all scores if never predicting it is best.
    """
    count = labels.sum(0)
    is_rare = (count > 0) & (count < _FEW)
    frequent = np.flatnonzero(~is_rare)
    columns = [(labels[:, n], scores[:, n]) for n in frequent]
    if is_rare.any():
        columns.append((labels[:, is_rare].ravel(), scores[:, is_rare].ravel()))
    cuts = [_micro_cuts(*column) for column in columns]
    best = -1.0
    while True:
        chosen = [_gaining(*of_label, max(best, 0.0)) for of_label in cuts]
        places = list(zip(cuts, chosen))
        correct = sum(right[place] for (_, right, _), place in places)
        predicted = sum(number[place] for (_, _, number), place in places)
        f1 = 2.0 * correct / max(predicted + labels.sum(), 1)
        if f1 <= best + 1e-12:
            break
        best, limits = f1, [edges[place] for (edges, *_), place in places]
    of_label = np.full(len(count), limits[-1])
    of_label[frequent] = limits[: len(frequent)]
    return of_label.tolist()


def _micro_cuts(
    labels: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result of `_cuts`, with one more cut that selects no example.

    For a label that no example has, 0.5 is the only cut.
    """
    if not labels.any():
        edge, none = np.array([HALF]), np.array([0])
        return edge, none, np.array([np.sum(scores >= HALF)])
    edges, correct, predicted = _cuts(labels, scores)
    never = (scores.max() + 1.0) / 2
    if never > 1.0 - 1e-6:  # float32 may not tell it from the score.
        never = _NEVER
    return (
        np.append(never, edges),
        np.append(0, correct),
        np.append(0, predicted),
    )


def _gaining(
    edges: np.ndarray, correct: np.ndarray, predicted: np.ndarray, f1: float
) -> int:
    """The index of the cut that adds most to micro F1.

    Of equal cuts, the one nearest to 0.5.
    """
    gains = 2.0 * correct - f1 * predicted
    best = np.flatnonzero(gains >= gains.max() - 1e-9)
    return int(best[np.argmin(np.abs(edges[best] - HALF))])


def threshold_of_precision(
    labels: np.ndarray, scores: np.ndarray, precision: float
) -> tuple[float | None, float]:
    """The lowest threshold with a precision, and so the highest recall.

    Args:
        labels: bool [n].
        scores: float [n].
        precision: from 0 to 1, of the examples that reach the threshold.

    Returns:
        A number half-way between two scores, or None if no threshold has that
        precision; and the highest precision of any threshold.
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
    """All thresholds from high to low, with true and predicted positives.

    Scores are compared as float32, as runs and exports give them. Scores that
    differ only in float64 cannot be separated by a threshold.
    """
    scores = np.asarray(scores, np.float32)
    order = np.argsort(-scores, kind="stable")
    values = scores[order].astype(np.float64)
    # Each cut is after the last of equal scores.
    cuts = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    correct = np.cumsum(labels[order])[cuts]
    below = np.append(values[cuts[:-1] + 1], 0.0)
    edges = (values[cuts] + below) / 2
    # Float32 has no number half-way between neighbours and may round down.
    edges = np.where(edges.astype(np.float32) > below, edges, values[cuts])
    return edges, correct, cuts + 1
