"""Tagging: span F1, token accuracy, and the scores of each type."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mtl_tf.evaluation.metrics import tagging_metrics
from mtl_tf.evaluation.mistakes import Mistake, highest_first
from mtl_tf.evaluation.scoring import (
    Scorer,
    Scoring,
    TaskPredictions,
    check_length,
)


class TagScorer(Scorer):
    """Scores sentences with a label for each token.

    A prediction may be shorter than its sentence's labels, if the model did not
    read the whole sentence.
    """

    def __init__(self, task: TaskPredictions):
        self._metrics = {
            name: tagging_metrics.get(name) for name in task.metrics
        }
        self._scheme = task.settings.get("scheme", "")
        self._gold = tagging_metrics.names_of(task.labels, task.class_names)
        self._predicted = tagging_metrics.names_of(
            task.predictions, task.class_names
        )
        self.size = len(self._gold)
        check_length(task.name, "predictions", self._predicted, self.size)
        self._tokens = np.array([len(tags) for tags in self._gold], np.int64)
        self._counts = {
            name: metric.counts(self._gold, self._predicted, self._scheme)
            for name, metric in self._metrics.items()
        }

    def part(self, selection: np.ndarray) -> dict[str, Any]:
        """See `Scorer.part`; also "tokens", the number of tokens."""
        lengths = self._tokens[selection]
        tokens = int(lengths.sum())
        scores: dict[str, Any] = {"examples": len(lengths), "tokens": tokens}
        for name, metric in self._metrics.items():
            counts = self._counts[name][selection]
            scores[name] = metric.score(counts) if tokens else None
        return scores

    def details(self) -> dict[str, Any]:
        """The scores of each span type, or of each tag of words."""
        types = tagging_metrics.by_type(
            self._gold, self._predicted, self._scheme
        )
        return {"types": types}


class TagScoring(Scoring):
    """A label for each token; files have columns for other scorers."""

    scorer = TagScorer
    titles = {
        "span_f1": "span F1",
        "span_f1_strict": "strict span F1",
        "token_accuracy": "token accuracy",
    }
    ending = "conll"
    measure = "confidence"

    def mistakes(self, task: TaskPredictions) -> list[Mistake]:
        """The tokens with a wrong label, the most confident one first.

        Tokens that the model did not read are left out.
        """
        mistakes = []
        pairs = enumerate(zip(task.labels, task.predictions, strict=True))
        for number, (labels, predictions) in pairs:
            for position, (a, b) in enumerate(zip(labels, predictions)):
                if a == b:
                    continue
                names = task.class_names[int(a)], task.class_names[int(b)]
                sure = None
                if task.confidences is not None:
                    sure = float(task.confidences[number][position])
                mistakes.append(Mistake(number, *names, sure, position))
        return highest_first(mistakes)

    def lines(
        self, inputs: Sequence[Any], task: TaskPredictions
    ) -> Iterator[str]:
        """Lines of token, right tag and predicted tag."""
        names = task.class_names
        return tagging_metrics.conll_lines(
            inputs,
            tagging_metrics.names_of(task.labels, names),
            tagging_metrics.names_of(task.predictions, names),
            task.settings.get("scheme", ""),
        )


TYPE = TagScoring()
