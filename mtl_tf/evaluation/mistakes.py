"""Examples that a model got wrong, the worst first."""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Mistake:
    """A wrong prediction.

    Attributes:
        number: the example's index in its split, from 0.
        label: the right label, in its JSON form.
        prediction: the predicted label, in the same form.
        measure: the quantity that mistakes are sorted by, such as the model's
            confidence (see `Scoring.measure`); None if unknown.
        place: the index of the wrong token, if each token has a label; else
            None.
    """

    number: int
    label: Any
    prediction: Any
    measure: float | None = None
    place: int | None = None


def highest_first(mistakes: list[Mistake]) -> list[Mistake]:
    """Sorts mistakes by falling measure; those without one come last."""
    return sorted(
        mistakes,
        key=lambda m: -np.inf if m.measure is None else m.measure,
        reverse=True,
    )


def scores_alone(
    scorer: Any, metric: str, higher_is_better: bool
) -> list[tuple[int, float]]:
    """The examples without a perfect score, with their scores, worst first.

    Args:
        scorer: the `Scorer` of the examples.
        metric: the metric that scores each example alone.
        higher_is_better: whether 100 is perfect; otherwise 0 is.
    """
    scores = []
    for number in range(scorer.size):
        score = scorer.part(np.array([number]))[metric]
        if score is None:
            continue
        if score < 100 if higher_is_better else score > 0:
            scores.append((number, float(score)))
    return sorted(
        scores, key=lambda pair: pair[1] if higher_is_better else -pair[1]
    )
