"""The quality of predicted probabilities, and their calibration.

Temperatures and the expected calibration error follow Guo et al. 2017, "On
Calibration of Modern Neural Networks" (sections 2 and 4.2). The Brier score is
that of Brier 1950, "Verification of forecasts expressed in terms of
probability".
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# The number of cross-validation folds that test a temperature.
_PARTS = 5
#: Bins of equal width; the number is that of Guo et al.
BINS = 15
# A probability of 0 would give an infinite loss.
_SMALLEST = 1e-30
# Temperatures are searched for in this range by golden section, in `_STEPS`
# steps. Each step keeps 0.618 of the range's logarithm.
#: The lowest and the highest temperature that is tried.
COLDEST, HOTTEST = 0.02, 50.0
_STEPS = 60


class Probabilities(abc.ABC):
    """The meaning of the probabilities of a task type's labels.

    In all methods, `scores` are numbers [n, labels] from 0 to 1, and `labels`
    are the right labels of the n examples, encoded as the type does.
    """

    @abc.abstractmethod
    def tempered(self, scores: Any, temperature: float) -> np.ndarray:
        """The probabilities with all logits divided by a temperature."""

    @abc.abstractmethod
    def losses(self, labels: Any, scores: Any) -> np.ndarray:
        """The negative log-likelihood of each example, float64 [n]."""

    @abc.abstractmethod
    def predicted(self, scores: Any) -> np.ndarray:
        """The most probable prediction, encoded as the type does."""

    @abc.abstractmethod
    def renumbered(self, labels: Any, order: Sequence[int]) -> np.ndarray:
        """The right labels renumbered: label `order[i]` becomes i."""

    @abc.abstractmethod
    def confidence(self, scores: Any) -> np.ndarray:
        """The probability of the prediction, float64 [n].

        With several labels, that of the least certain decision.
        """

    @abc.abstractmethod
    def events(self, labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """Events that the model gave a probability.

        Returns:
            Their probabilities, float64 [m], and whether they happened, bool
            [m].
        """

    @abc.abstractmethod
    def brier(self, labels: Any, scores: Any) -> float:
        """The mean squared error of the probabilities."""


class OneLabel(Probabilities):
    """Each example has exactly one label: rows of scores sum to 1."""

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
        """The event of each example: that its prediction is right."""
        is_correct = self.predicted(scores) == np.asarray(labels)
        return self.confidence(scores), is_correct

    def brier(self, labels: Any, scores: Any) -> float:
        """The sum over the labels, as in Brier (1950): from 0 to 2."""
        scores = np.asarray(scores, np.float64)
        truth = np.eye(scores.shape[1])[np.asarray(labels, np.int64)]
        return float(np.mean(np.sum((scores - truth) ** 2, axis=1)))


class AnyLabels(Probabilities):
    """Each example has any number of labels, with independent scores."""

    def tempered(self, scores: Any, temperature: float) -> np.ndarray:
        """See `Probabilities`; a score of 0 stays 0, as in an export."""
        scores = np.asarray(scores, np.float64)
        odds = np.log(np.maximum(scores, _SMALLEST))
        odds -= np.log(np.maximum(1.0 - scores, _SMALLEST))
        tempered = 0.5 * (1.0 + np.tanh(odds / (2.0 * temperature)))
        return np.where(scores > 0, tempered, 0.0)

    def losses(self, labels: Any, scores: Any) -> np.ndarray:
        """The mean loss over the labels."""
        scores, truth = _alike(labels, scores)
        of_truth = np.where(truth, scores, 1.0 - scores)
        return -np.log(np.maximum(of_truth, _SMALLEST)).mean(axis=1)

    def predicted(self, scores: Any) -> np.ndarray:
        """1 for each label with a probability above a half, int64."""
        return (np.asarray(scores) >= 0.5).astype(np.int64)

    def renumbered(self, labels: Any, order: Sequence[int]) -> np.ndarray:
        """See `Probabilities`."""
        return np.asarray(labels)[:, list(order)]

    def confidence(self, scores: Any) -> np.ndarray:
        """The confidence of the least certain decision."""
        scores = np.asarray(scores, np.float64)
        return np.maximum(scores, 1.0 - scores).min(axis=1)

    def events(self, labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        """The events, for all examples and labels: that the label is right."""
        scores, truth = _alike(labels, scores)
        return scores.reshape(-1), truth.reshape(-1)

    def brier(self, labels: Any, scores: Any) -> float:
        """The mean over the labels: from 0 to 1."""
        scores, truth = _alike(labels, scores)
        return float(np.mean((scores - truth) ** 2))


def fit_temperature(
    kind: Probabilities, labels: Any, scores: Any, least: float = COLDEST
) -> float:
    """The temperature with the lowest mean loss on the examples.

    The loss is convex in the inverse temperature, so a golden section search
    finds it. The same examples always give the same temperature.

    Args:
        kind: the meaning of the probabilities.
        labels: the labels of n examples, at least one.
        scores: their probabilities, [n, labels].
        least: the lowest temperature to try.

    Returns:
        A number from `least` to 50; 1 if no temperature changes the loss.
    """

    def loss(exponent: float) -> float:
        tempered = kind.tempered(scores, float(np.exp(exponent)))
        return float(np.mean(kind.losses(labels, tempered)))

    best = _golden(loss, np.log(least), np.log(HOTTEST))
    is_better = loss(best) < loss(0.0) - 1e-12
    return float(np.exp(best)) if is_better else 1.0


def holds_elsewhere(kind: Probabilities, labels: Any, scores: Any) -> bool:
    """Whether fitted temperatures lower the loss of held-out examples.

    Five-fold cross-validation: each fifth of the examples gets the temperature
    that is fitted on the others.

    Args:
        kind: the meaning of the probabilities.
        labels: the labels of n examples.
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
    """The minimum of a function that has only one."""
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
    """How often predicted events happen, bin by bin of their probability.

    Args:
        kind: the meaning of the probabilities.
        labels: the labels of n examples.
        scores: their probabilities, [n, labels].
        bins: the number of bins of equal width from 0 to 1.

    Returns:
        For each bin with events: "count", "confidence" (the mean probability)
        and "accuracy" (the share of events that happened).
    """
    probabilities, true = kind.events(labels, scores)
    # Bins exclude their lower bound: with ten bins, 0.2 is in the second.
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


def calibration_error(kind: Probabilities, labels: Any, scores: Any) -> float:
    """The expected calibration error, from 0 to 100.

    The mean distance between `reliability`'s confidence and accuracy, weighted
    by the counts (Guo et al. 2017, equation 3). Arguments as there.
    """
    rows = reliability(kind, labels, scores)
    total = sum(row["count"] for row in rows)
    gaps = (
        row["count"] * abs(row["confidence"] - row["accuracy"]) for row in rows
    )
    return float(100.0 * sum(gaps) / max(total, 1))


def quality(kind: Probabilities, labels: Any, scores: Any) -> dict[str, float]:
    """Measures of probabilities; lower is better.

    Returns:
        "calibration_error" in percent, "brier" and "log_loss".
    """
    return {
        "calibration_error": calibration_error(kind, labels, scores),
        "brier": kind.brier(labels, scores),
        "log_loss": float(np.mean(kind.losses(labels, scores))),
    }


def _of_label(labels: Any, scores: Any) -> np.ndarray:
    """The probability of each example's right label."""
    scores = np.asarray(scores, np.float64)
    return scores[np.arange(len(scores)), np.asarray(labels, np.int64)]


def _alike(labels: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels [n, labels], without the labels' padding."""
    scores = np.asarray(scores, np.float64)
    return scores, np.asarray(labels)[:, : scores.shape[1]] > 0
