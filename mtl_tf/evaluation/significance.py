"""A paired bootstrap test: whether one system is better than another.

Efron and Tibshirani (1993); for test scores, Koehn (2004) and Berg-Kirkpatrick
et al. (2012). Test sets are resampled from the examples with replacement, the
same ones for both systems. If a system was trained several times, its seeds are
resampled too. A difference that remains is due neither to the choice of
examples nor to that of seeds. Examples that depend on each other, such as the
turns of a dialogue or questions about one context, are drawn together (Davison
and Hinkley 1997, section 3.8).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mtl_tf.core import checks, random
from mtl_tf.evaluation import task_types
from mtl_tf.evaluation.scoring import TaskPredictions, units_of
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.own_metrics import higher_is_better

#: A run's predictions by task.
System = Mapping[str, TaskPredictions]


@dataclasses.dataclass(frozen=True)
class Difference:
    """How much better one system scores than another.

    Attributes:
        examples: the number of examples.
        metric: the task's primary metric; "" for the mean.
        scores: the scores of the two systems, means over their seeds, from 0 to
            100 or in the metric's range.
        gain: how much better the second system is; positive is better, also if
            lower scores are.
        interval: the interval that holds 95 % of the resampled gains.
        p_value: two-sided, for a gain of 0: twice the share of resampled gains
            on the other side of 0, and at least 2 / (draws + 1).
        standard_errors: of the two scores, from the choice of examples alone.
    """

    examples: int
    metric: str
    scores: tuple[float, float]
    gain: float
    interval: tuple[float, float]
    p_value: float
    standard_errors: tuple[float, float]


def compare(
    first: Sequence[System],
    second: Sequence[System],
    draws: int = 2000,
    seed: int = 0,
    progress: Callable[[int], None] = lambda count: None,
) -> tuple[dict[str, Difference], Difference]:
    """Compares two systems on the same examples of the same tasks.

    Args:
        first: the predictions of the first system's runs, one per seed.
        second: those of the second system.
        draws: the number of resamplings of examples and seeds.
        seed: the seed of the resampling.
        progress: called with the number of finished draws.

    Returns:
        The difference on each task, and that of the means over the tasks'
        primary metrics. In the means, metrics for which lower is better are
        negated.
    """
    checks.positive_integer("draws", draws)
    names = list(first[0])
    sides = [
        {name: [_Scorer(run[name]) for run in runs] for name in names}
        for runs in (first, second)
    ]
    drawing = {name: _that_draws(sides, name) for name in names}
    draw = random.generator(seed, "bootstrap")
    drawn = np.zeros((2, len(names), draws))
    examples_only = np.zeros((2, len(names), draws))
    for number in range(draws):
        seeds = [draw.integers(0, len(r), len(r)) for r in (first, second)]
        for column, name in enumerate(names):
            rows = drawing[name].drawn(draw)
            for side, by_task in enumerate(sides):
                scores = np.array([scorer(rows) for scorer in by_task[name]])
                drawn[side, column, number] = scores[seeds[side]].mean()
                examples_only[side, column, number] = scores.mean()
        progress(number + 1)
    all_examples = np.array(
        [
            [
                np.mean(
                    [scorer(np.arange(scorer.size)) for scorer in by_task[name]]
                )
                for name in names
            ]
            for by_task in sides
        ]
    )
    differences = {
        name: _difference(
            sides[0][name][0],
            all_examples[:, column],
            drawn[:, column],
            examples_only[:, column],
        )
        for column, name in enumerate(names)
    }
    signs = np.array([sides[0][name][0].sign for name in names])
    mean = _difference(
        None,
        (signs * all_examples).mean(1),
        (signs[:, None] * drawn).mean(1),
        (signs[:, None] * examples_only).mean(1),
    )
    total = sum(task.examples for task in differences.values())
    return differences, dataclasses.replace(mean, examples=total)


class _Scorer:
    """The primary score of any examples of a task, which may repeat."""

    def __init__(self, task: TaskPredictions):
        self.metric = task.metrics[0]
        only = dataclasses.replace(task, metrics=(self.metric,))
        self._scorer = task_types.of(task.type).scorer_of(only)
        self.size, self.units = self._scorer.size, self._scorer.units
        if self.units is None and task.units is not None:
            self.units = units_of(task.units)
        declared = types_of_tasks.of(task.type).metrics
        is_gain = higher_is_better(self.metric, declared, task.settings)
        self.sign = 1.0 if is_gain else -1.0

    def drawn(self, draw: np.random.Generator) -> np.ndarray:
        """As many random examples, or units of them, with replacement."""
        count = self.size if self.units is None else len(self.units)
        rows = draw.integers(0, count, count)
        if self.units is None:
            return rows
        return np.concatenate([self.units[number] for number in rows])

    def __call__(self, rows: np.ndarray) -> float:
        return float(self._scorer.part(rows)[self.metric])


def _that_draws(
    sides: Sequence[Mapping[str, Sequence[_Scorer]]], name: str
) -> _Scorer:
    """A scorer of a task that knows its units, if one does.

    The predictions of older versions do not tell them.
    """
    scorers = [scorer for side in sides for scorer in side[name]]
    return next((s for s in scorers if s.units is not None), scorers[0])


def _difference(
    scorer: _Scorer | None,
    all_examples: np.ndarray,
    drawn: np.ndarray,
    examples_only: np.ndarray,
) -> Difference:
    sign = scorer.sign if scorer else 1.0
    gains = sign * (drawn[1] - drawn[0])
    draws = len(gains)
    # One more on each side, as no number of draws proves a p-value of 0.
    below = (np.sum(gains <= 0) + 1) / (draws + 1)
    above = (np.sum(gains >= 0) + 1) / (draws + 1)
    low, high = np.percentile(gains, [2.5, 97.5])
    return Difference(
        examples=scorer.size if scorer else 0,
        metric=scorer.metric if scorer else "",
        scores=(float(all_examples[0]), float(all_examples[1])),
        gain=float(sign * (all_examples[1] - all_examples[0])),
        interval=(float(low), float(high)),
        p_value=float(min(1.0, 2 * min(below, above))),
        standard_errors=tuple(
            float(np.std(scores, ddof=1)) if draws > 1 else 0.0
            for scores in examples_only
        ),
    )
