"""From which probability on a label is given, chosen on examples."""

import numpy as np

HALF = 0.5
#: Above all probabilities.
_NEVER = float(np.nextafter(np.float32(1), np.float32(2)))
# Fewer examples tell no threshold of a label's own.
_FEW = 3


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


def micro_thresholds(labels: np.ndarray, scores: np.ndarray) -> list[float]:
    """The thresholds of all labels with which their micro F1 is best.

    Each label's best F1 is none of it: a rare label that a model does not know
    has its best F1 where most examples get it (Lipton et al. 2014, "Optimal
    Thresholding of Classifiers to Maximize F1 Measure"), and all those count
    against the others. With the micro F1 F, each label for itself has the most
    of 2 correct - F given; F grows until it stays, at the best there is
    (Dinkelbach 1967, "On Nonlinear Fractional Programming").

    Labels that one or two examples have share a threshold, which is settled by
    all of these examples: alone, each would take the chance that a single
    example has some score for a rule, and be given to far too many others.

    Args:
        labels: bool [n, labels].
        scores: float [n, labels].

    Returns:
        Of each label a number as `best_threshold` returns it, 0.5 where no
        example has it; one above all scores where giving it never is best.
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
    """As `_cuts`, with the one that gives a label to no example.

    Of a label that no example has there is 0.5 alone.
    """
    if not labels.any():
        edge, none = np.array([HALF]), np.array([0])
        return edge, none, np.array([np.sum(scores >= HALF)])
    edges, correct, predicted = _cuts(labels, scores)
    never = (scores.max() + 1.0) / 2
    if never > 1.0 - 1e-6:  # Which float32 may take for the score.
        never = _NEVER
    return (
        np.append(never, edges),
        np.append(0, correct),
        np.append(0, predicted),
    )


def _gaining(
    edges: np.ndarray, correct: np.ndarray, predicted: np.ndarray, f1: float
) -> int:
    """The place of the cut that adds most to a micro F1.

    Of equal ones that nearest to 0.5.
    """
    gains = 2.0 * correct - f1 * predicted
    best = np.flatnonzero(gains >= gains.max() - 1e-9)
    return int(best[np.argmin(np.abs(edges[best] - HALF))])


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
    """All thresholds, high to low, and how many are right and are given.

    Scores are compared as float32, as which runs and exports give them: what
    only float64 tells apart no threshold can.
    """
    scores = np.asarray(scores, np.float32)
    order = np.argsort(-scores, kind="stable")
    values = scores[order].astype(np.float64)
    # Each cut is behind the last of equal scores.
    cuts = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    correct = np.cumsum(labels[order])[cuts]
    below = np.append(values[cuts[:-1] + 1], 0.0)
    edges = (values[cuts] + below) / 2
    # Half-way between neighbours float32 has nothing, and may round down.
    edges = np.where(edges.astype(np.float32) > below, edges, values[cuts])
    return edges, correct, cuts + 1
