"""Examples that a model got wrong, the worst first."""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Mistake:
    """Something that a model said and that is wrong.

    Attributes:
        number: of the example in its split, from 0.
        label: what is right, as JSON shows it.
        prediction: what the model said, of the same form.
        measure: what mistakes are ordered by, such as the model's confidence
            (see `Scoring.measure`); None where it is not known.
        place: of the token that is wrong, where each has a label; else None.
    """

    number: int
    label: Any
    prediction: Any
    measure: float | None = None
    place: int | None = None


def highest_first(mistakes: list[Mistake]) -> list[Mistake]:
    """Mistakes by falling measure, those without one last."""
    return sorted(
        mistakes,
        key=lambda m: -np.inf if m.measure is None else m.measure,
        reverse=True,
    )


def scores_alone(
    scorer: Any, metric: str, higher_is_better: bool
) -> list[tuple[int, float]]:
    """Examples whose score is not perfect, with it, the worst first.

    Args:
        scorer: the `Scorer` of the examples.
        metric: whose score each example is given, by itself.
        higher_is_better: whether 100 is perfect; else 0 is.
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
