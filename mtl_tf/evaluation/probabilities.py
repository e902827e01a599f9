"""Probabilities behind predictions: how good they are, and mending them.

Temperatures and the expected calibration error are those of Guo et al. 2017,
"On Calibration of Modern Neural Networks" (sections 2 and 4.2); the score of
probabilities is that of Brier 1950, "Verification of forecasts expressed in
terms of probability".
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# Parts into which examples are divided to see whether a temperature holds.
_PARTS = 5
#: Bins of equal width, as Guo et al. have them.
BINS = 15
# A probability of 0 would make an infinite loss.
_SMALLEST = 1e-30
# Temperatures are looked for in this range, in so many steps of the golden
# section: each leaves 0.618 of the range's logarithm.
#: The lowest temperature that is looked at, and the highest.
COLDEST, HOTTEST = 0.02, 50.0
_STEPS = 60


class Probabilities(abc.ABC):
    """What the probabilities of a task type's labels mean.

    In all methods `scores` are numbers [n, labels] from 0 to 1, and `labels`
    what is right of the n examples, as the type encodes it.
    """

    @abc.abstractmethod
    def tempered(self, scores: Any, temperature: float) -> np.ndarray:
        """The probabilities with all logits divided by a temperature."""

    @abc.abstractmethod
    def losses(self, labels: Any, scores: Any) -> np.ndarray:
        """The negative log-likelihood of each example, float64 [n]."""

    @abc.abstractmethod
    def predicted(self, scores: Any) -> np.ndarray:
        """What is most probable, as the type encodes it."""

    @abc.abstractmethod
    def renumbered(self, labels: Any, order: Sequence[int]) -> np.ndarray:
        """The right labels, where label `order[i]` is called i by now."""

    @abc.abstractmethod
    def confidence(self, scores: Any) -> np.ndarray:
        """How probable that is, float64 [n]; of several labels the least."""

    @abc.abstractmethod
    def events(self, labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """Events that were given a probability.

        Returns:
            Their probabilities, float64 [m], and whether they came true,
            bool [m].
        """

    @abc.abstractmethod
    def brier(self, labels: Any, scores: Any) -> float:
        """The mean squared error of the probabilities."""


class OneLabel(Probabilities):
    """Each example has one of the labels: rows of scores sum to 1."""

    def tempered(self, scores: Any, temperature: float) -> np.ndarray:
        """See `Probabilities`; a score of 0 stays 0."""
        scores = np.asarray(scores, np.float64)
        logits = np.log(np.maximum(scores, _SMALLEST)) / temperature
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.where(scores > 0, np.exp(logits), 0.0)
        return powers / powers.sum(axis=1, keepdims=True)

    def losses(self, labels: Any, scores: Any) -> np.ndarray:
        """See `Probabilities`."""
        return -np.log(np.maximum(_of_label(labels, scores), _SMALLEST))

    def predicted(self, scores: Any) -> np.ndarray:
        """The most probable label, int64 [n]."""
        return np.argmax(np.asarray(scores), axis=1)

    def renumbered(self, labels: Any, order: Sequence[int]) -> np.ndarray:
        """See `Probabilities`."""
        return np.argsort(order)[np.asarray(labels, np.int64)]

    def confidence(self, scores: Any) -> np.ndarray:
        """See `Probabilities`."""
        return np.asarray(scores, np.float64).max(axis=1)

    def events(self, labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """That each prediction is right."""
        is_correct = self.predicted(scores) == np.asarray(labels)
        return self.confidence(scores), is_correct

    def brier(self, labels: Any, scores: Any) -> float:
        """Summed over the labels, as Brier (1950): from 0 to 2."""
        scores = np.asarray(scores, np.float64)
        truth = np.eye(scores.shape[1])[np.asarray(labels, np.int64)]
        return float(np.mean(np.sum((scores - truth) ** 2, axis=1)))


class AnyLabels(Probabilities):
    """Each example has any of the labels: every score by itself."""

    def tempered(self, scores: Any, temperature: float) -> np.ndarray:
        """See `Probabilities`; a score of 0 stays 0, as in an export."""
        scores = np.asarray(scores, np.float64)
        odds = np.log(np.maximum(scores, _SMALLEST))
        odds -= np.log(np.maximum(1.0 - scores, _SMALLEST))
        tempered = 0.5 * (1.0 + np.tanh(odds / (2.0 * temperature)))
        return np.where(scores > 0, tempered, 0.0)

    def losses(self, labels: Any, scores: Any) -> np.ndarray:
        """The mean over the labels."""
        scores, truth = _alike(labels, scores)
        of_truth = np.where(truth, scores, 1.0 - scores)
        return -np.log(np.maximum(of_truth, _SMALLEST)).mean(axis=1)

    def predicted(self, scores: Any) -> np.ndarray:
        """1 for each label that is more probable than not, int64."""
        return (np.asarray(scores) >= 0.5).astype(np.int64)

    def renumbered(self, labels: Any, order: Sequence[int]) -> np.ndarray:
        """See `Probabilities`."""
        return np.asarray(labels)[:, list(order)]

    def confidence(self, scores: Any) -> np.ndarray:
        """That of the decision that is least sure."""
        scores = np.asarray(scores, np.float64)
        return np.maximum(scores, 1.0 - scores).min(axis=1)

    def events(self, labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """That an example has a label, of all examples and labels."""
        scores, truth = _alike(labels, scores)
        return scores.reshape(-1), truth.reshape(-1)

    def brier(self, labels: Any, scores: Any) -> float:
        """The mean over the labels: from 0 to 1."""
        scores, truth = _alike(labels, scores)
        return float(np.mean((scores - truth) ** 2))


def fit_temperature(
    kind: Probabilities, labels: Any, scores: Any, least: float = COLDEST
) -> float:
    """The temperature of the least mean loss on examples.

    The loss is convex in the temperature's inverse, so a golden section finds
    it; the same examples give the same temperature anywhere.

    Args:
        kind: what the probabilities mean.
        labels: of n examples, at least one.
        scores: their probabilities, [n, labels].
        least: the lowest temperature that is looked at.

    Returns:
        A number from `least` to 50; 1 where no temperature changes the loss.
    """

    def loss(exponent: float) -> float:
        tempered = kind.tempered(scores, float(np.exp(exponent)))
        return float(np.mean(kind.losses(labels, tempered)))

    best = _golden(loss, np.log(least), np.log(HOTTEST))
    is_better = loss(best) < loss(0.0) - 1e-12
    return float(np.exp(best)) if is_better else 1.0


def holds_elsewhere(kind: Probabilities, labels: Any, scores: Any) -> bool:
    """Whether temperatures lower the loss of examples they were not fitted on.

    Each fifth of the examples has the temperature that the others ask for
    (five-fold cross-validation).

    Args:
        kind: what the probabilities mean.
        labels: of n examples.
        scores: their probabilities, [n, labels].
    """
    labels, scores = np.asarray(labels), np.asarray(scores)
    parts = np.arange(len(labels)) % _PARTS
    gain = 0.0
    for part in range(min(_PARTS, len(labels))):
        others, held_out = parts != part, parts == part
        if not others.any():
            return False
        temperature = fit_temperature(kind, labels[others], scores[others])
        tempered = kind.tempered(scores[held_out], temperature)
        gain += kind.losses(labels[held_out], scores[held_out]).sum()
        gain -= kind.losses(labels[held_out], tempered).sum()
    return gain > 0


def _golden(
    function: Callable[[float], float], low: float, high: float
) -> float:
    """Where a function with one valley is least."""
    share = (np.sqrt(5.0) - 1.0) / 2.0
    lower, upper = high - share * (high - low), low + share * (high - low)
    at_lower, at_upper = function(lower), function(upper)
    for _ in range(_STEPS):
        if at_lower < at_upper:
            high, upper, at_upper = upper, lower, at_lower
            lower = high - share * (high - low)
            at_lower = function(lower)
        else:
            low, lower, at_lower = lower, upper, at_upper
            upper = low + share * (high - low)
            at_upper = function(upper)
    return float((low + high) / 2.0)


def reliability(
    kind: Probabilities, labels: Any, scores: Any, bins: int = BINS
) -> list[dict[str, float]]:
    """How often what was given a probability came true, bin by bin.

    Args:
        kind: what the probabilities mean.
        labels: of n examples.
        scores: their probabilities, [n, labels].
        bins: how many of equal width there are from 0 to 1.

    Returns:
        Of each bin with events "count", "confidence" (their mean
        probability) and "accuracy" (the share that came true).
    """
    probabilities, true = kind.events(labels, scores)
    # A bin is open below: 0.2 of ten bins is in the second.
    bin_of = np.ceil(probabilities * bins).astype(int) - 1
    bin_of = np.clip(bin_of, 0, bins - 1)
    rows = []
    for number in np.unique(bin_of):
        in_bin = bin_of == number
        rows.append(
            {
                "count": int(in_bin.sum()),
                "confidence": float(probabilities[in_bin].mean()),
                "accuracy": float(true[in_bin].mean()),
            }
        )
    return rows


def calibration_error(
    kind: Probabilities, labels: Any, scores: Any, bins: int = BINS
) -> float:
    """The expected calibration error, from 0 to 100.

    The mean distance of `reliability`'s confidence and accuracy, weighted by
    the counts (Guo et al. 2017, equation 3); arguments as there.
    """
    rows = reliability(kind, labels, scores, bins)
    total = sum(row["count"] for row in rows)
    gaps = (
        row["count"] * abs(row["confidence"] - row["accuracy"]) for row in rows
    )
    return float(100.0 * sum(gaps) / max(total, 1))


def quality(kind: Probabilities, labels: Any, scores: Any) -> dict[str, float]:
    """How good probabilities are: lower numbers are better.

    Returns:
        "calibration_error" in percent, "brier" and "log_loss".
    """
    return {
        "calibration_error": calibration_error(kind, labels, scores),
        "brier": kind.brier(labels, scores),
        "log_loss": float(np.mean(kind.losses(labels, scores))),
    }


def _of_label(labels: Any, scores: Any) -> np.ndarray:
    """The probability of each example's label."""
    scores = np.asarray(scores, np.float64)
    return scores[np.arange(len(scores)), np.asarray(labels, np.int64)]


def _alike(labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truths [n, labels]; labels may have places behind them."""
    scores = np.asarray(scores, np.float64)
    return scores, np.asarray(labels)[:, : scores.shape[1]] > 0
