"""Question answering: scores of texts by the task's metrics."""

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core.errors import DataError
from mtl_tf.evaluation.metrics import answer_metrics
from mtl_tf.evaluation.metrics.answer_metrics import Example
from mtl_tf.evaluation.metrics.unscored import Unscored
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
    repeated,
    units_of,
)
from mtl_tf.tasks.splits.groups import GROUPS

_BLEU = "bleu"


class AnswerScorer(Scorer):
    """Scores answers.

    Predictions are texts. A label is a mapping with "answers", the texts that
    count as right, and optionally "scoring", what the metric needs besides: a
    mapping or its JSON. A label that is a text is the only right answer.

    The task's settings may have "bleu_tokenizer" and "language", for BLEU.

    Raises:
        ConfigError: there is no such metric or tokenizer.
        ValueError: labels and predictions do not match, or a label is
            malformed.
    """

    def __init__(self, task: TaskPredictions):
        predictions = list(task.predictions)
        self._predictions = predictions
        self._examples = [_example(label) for label in task.labels]
        self.size = len(self._examples)
        check_length(task.name, "predictions", predictions, self.size)
        self._bleu = (
            task.settings.get("bleu_tokenizer", ""),
            task.settings.get("language", ""),
        )
        self._metrics = {name: self._metric(name) for name in task.metrics}
        self._unknown = _unknown(task.metrics, self._examples)
        # Once for all examples: a dialogue's state depends on its other turns,
        # and a bootstrap asks for thousands of parts.
        self._statistics = {
            name: metric.statistics(predictions, self._examples)
            for name, metric in self._metrics.items()
            if name not in self._unknown
        }
        keys = {metric.together for metric in self._metrics.values()} - {""}
        self.units = _units(keys, self._examples)

    def _metric(self, name: str) -> answer_metrics.Metric:
        if name == _BLEU:
            return answer_metrics.bleu_metric(*self._bleu)
        return answer_metrics.get(name)

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`; also the scores named in `Metric.also`.

        A metric is None if no example has what it needs.
        """
        examples = len(np.arange(self.size)[selection])
        scores: dict[str, Any] = {"examples": examples}
        for name, metric in self._metrics.items():
            if name in self._unknown:
                scores[name] = None
                continue
            numbers = self._statistics[name][selection]
            scores[name] = metric.score(numbers) if examples else None
            for number, also in enumerate(metric.also, 1):
                number = numbers[:, number : number + 1]
                mean = answer_metrics.mean(number) if examples else None
                scores[also] = mean
        return scores

    def details(self) -> dict[str, Any]:
        """sacrebleu's signature for BLEU, and a text that most have."""
        common = repeated(self._predictions, self._right)
        if _BLEU not in self._metrics:
            return common
        signature = answer_metrics.bleu_signature(self._examples, *self._bleu)
        return {"signatures": {_BLEU: signature}, **common}

    def _right(self, text: str) -> int:
        """For how many examples a text is right; case does not count."""
        return sum(
            text.lower() in map(str.lower, example.references)
            for example in self._examples
        )


class AnswerScoring(Scoring):
    """A text for each question, and the texts that count as right."""

    scorer = AnswerScorer
    titles = {
        "nf1": "nF1",
        "em": "EM",
        "nem": "normalised EM",
        "bleu": "BLEU",
        "rouge": "ROUGE",
        "rouge_1": "ROUGE-1",
        "rouge_2": "ROUGE-2",
        "rouge_l": "ROUGE-L",
        "cf1": "cF1",
        "dsem": "dsEM",
        "request_em": "requests EM",
        "turn_em": "turn EM",
        "lfem": "lfEM",
        "execution": "execution",
    }

    def total(self, tasks: Mapping[str, Mapping]) -> tuple[str, str] | None:
        """The decaScore of the run's decaNLP tasks, if there are at least two.

        McCann et al. (2018), section 2.2: the sum of the primary metrics. A
        user's own tasks do not count. If there are only such tasks, the total
        is their sum.
        """
        ten = GROUPS["decanlp"].members
        present = [name for name in ten if name in tasks]
        counted = present or list(tasks)
        scores = [tasks[name][tasks[name]["primary"]] for name in counted]
        if len(scores) < 2 or None in scores:
            return None
        sentence = f"{sum(scores):.1f} over {len(scores)} tasks"
        if not present:
            return "sum", sentence
        if missing := [name for name in ten if name not in present]:
            sentence += f" (without {', '.join(missing)})"
        return "decaScore", sentence

    def readable(self, task: TaskPredictions, value: Any) -> Any:
        """For a label, the list of right answers; a prediction is a text."""
        del task
        if isinstance(value, Mapping):
            return list(_example(value).references)
        return value


def check(
    task: str,
    metrics: Sequence[str],
    labels: Sequence[Any],
    place_of: Callable[[int], str],
) -> None:
    """Refuses labels that a task's metrics cannot score.

    If no label has what a metric needs, for example in rows of tables, the
    metric is None in the results, with a warning. The primary metric may not be
    None.

    Args:
        task: the task's name.
        metrics: the names of its metrics; own functions are skipped.
        labels: see `AnswerScorer`.
        place_of: says where the label of an index comes from.

    Raises:
        DataError: a label lacks something; the message says where and what.
    """
    examples = [_example(label) for label in labels]
    unknown = _unknown(metrics[1:], examples)
    for name in unknown:
        _warn_of_unknown(task, name)
    for name in metrics:
        if name not in answer_metrics.METRICS or name in unknown:
            continue
        try:
            answer_metrics.get(name).check(examples)
        except Unscored as error:
            raise DataError(
                f"task {task}: {place_of(error.number)}: the metric {name} "
                f"cannot score it: {error.fault}"
            )


@functools.cache
def _warn_of_unknown(task: str, metric: str) -> None:
    """Warns once in a process, as a run checks each of its splits."""
    logging.warning(
        "task %s: the metric %s is left out: no example has %s in scoring",
        task,
        metric,
        answer_metrics.get(metric).needs,
    )


def _unknown(metrics: Sequence[str], examples: Sequence[Example]) -> list[str]:
    """The metrics that need what no example has."""
    return [
        name
        for name in metrics
        if name in answer_metrics.METRICS
        and not answer_metrics.get(name).is_known(examples)
    ]


def _units(
    keys: Collection[str], examples: Sequence[Example]
) -> list[np.ndarray] | None:
    """The indices of the examples with equal values; see `Scorer.units`."""
    if not keys:
        return None
    return units_of(
        tuple(example.scoring[key] for key in sorted(keys))
        for example in examples
    )


def _example(label: Any) -> Example:
    """Parses a label."""
    if isinstance(label, str):
        return Example((label,))
    if not isinstance(label, Mapping) or "answers" not in label:
        raise ValueError(f"a label must be a text or have answers: {label!r}")
    scoring = label.get("scoring", {})
    if isinstance(scoring, str):
        scoring = json.loads(scoring)
    return Example(tuple(label["answers"]), scoring)
