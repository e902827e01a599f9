"""Whether one system is better than another: a paired bootstrap.

Efron and Tibshirani (1993); of scores of a test set, Koehn (2004) and
Berg-Kirkpatrick et al. (2012). Test sets are drawn anew from the examples,
with replacement, the same ones for both systems, and so are the seeds of a
system that was trained several times: what is left of a difference is neither
the choice of the examples nor that of the seeds.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mtl_tf.core import checks, random
from mtl_tf.evaluation import task_types
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.own_metrics import higher_is_better

#: A run's predictions by task.
System = Mapping[str, TaskPredictions]


@dataclasses.dataclass(frozen=True)
class Difference:
    """How much better one system scores than another.

    Attributes:
        examples: how many there are.
        metric: the primary metric of the task; "" of the mean.
        scores: of the two systems, means over their seeds, from 0 to 100 or
            as the metric has it.
        gain: by how much the second is better; positive is better, also
            where lower scores are.
        interval: where 95 % of the drawn gains lie.
        p_value: two-sided, of the gain being 0: twice the share of drawn
            gains on the other side of 0, and at least 2 / (draws + 1).
        standard_errors: of the two scores, from the choice of the examples
            alone.
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
        first: the predictions of the first system's runs, a seed each.
        second: those of the second.
        draws: how often examples and seeds are drawn.
        seed: of the draws.
        progress: called with the number of draws that are done.

    Returns:
        The difference on each task, and that of the means over the tasks'
        primary metrics, of which those that are better when lower count with
        a minus.
    """
    checks.positive_integer("draws", draws)
    names = list(first[0])
    sides = [
        {name: [_Scorer(run[name]) for run in runs] for name in names}
        for runs in (first, second)
    ]
    draw = random.generator(seed, "bootstrap")
    drawn = np.zeros((2, len(names), draws))
    examples_only = np.zeros((2, len(names), draws))
    for number in range(draws):
        seeds = [draw.integers(0, len(r), len(r)) for r in (first, second)]
        for column, name in enumerate(names):
            size = sides[0][name][0].size
            rows = draw.integers(0, size, size)
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
    """The primary score of any of a task's examples, which may repeat."""

    def __init__(self, task: TaskPredictions):
        self.metric = task.metrics[0]
        only = dataclasses.replace(task, metrics=(self.metric,))
        self._scorer = task_types.of(task.type).scorer_of(only)
        self.size = self._scorer.size
        declared = types_of_tasks.of(task.type).metrics
        is_gain = higher_is_better(self.metric, declared, task.settings)
        self.sign = 1.0 if is_gain else -1.0

    def __call__(self, rows: np.ndarray) -> float:
        return float(self._scorer.part(rows)[self.metric])


def _difference(
    scorer: _Scorer | None,
    all_examples: np.ndarray,
    drawn: np.ndarray,
    examples_only: np.ndarray,
) -> Difference:
    sign = scorer.sign if scorer else 1.0
    gains = sign * (drawn[1] - drawn[0])
    draws = len(gains)
    # One more on each side: no number of draws shows a p-value of 0.
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
