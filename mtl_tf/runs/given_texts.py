"""Scoring texts that are given, of task types whose models write texts."""

import abc
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mtl_tf.core.columns import has_column, renamed
from mtl_tf.runs.prediction_type import Prediction, TaskDict, as_json

#: Stands for the end of a text, which has a probability, too.
END = "</s>"


def likelihood(words: Sequence[str], values: np.ndarray) -> Prediction:
    """What is told of a text, plain values for JSON.

    Args:
        words: the text's, without the end.
        values: float [words + 1], the log-likelihood of each, the end's last.
    """
    each = np.asarray(values, np.float64)
    return {
        "log_likelihood": float(each.sum()),
        "perplexity": float(np.exp(-each.mean())),
        "words": [*words, END],
        "log_likelihoods": each.tolist(),
    }


def as_text(prediction: Mapping[str, Any]) -> str:
    """The log-likelihood as a line."""
    return f"{prediction['log_likelihood']!r}\n"


class GivenTexts(abc.ABC):
    """How a model scores a text that it could have written.

    Attributes:
        features: by field of an example the feature of the task's type, in
            the order of a line: the text that is scored is the last.
        forms: as of `PredictionType`.
    """

    features: Mapping[str, str]
    forms: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
        {"jsonl": as_json, "text": as_text}
    )

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, str]:
        """The fields of an example.

        Args:
            task: the task.
            value: a mapping of the `features`, or a list of so many strings.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(value, Mapping):
            texts = [value.get(name) for name in self.features]
        else:
            texts = list(value) if isinstance(value, (list, tuple)) else []
        right = len(texts) == len(self.features)
        if not right or not all(isinstance(text, str) for text in texts):
            raise TypeError(self._rule(task, value))
        return dict(zip(self.features, texts))

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, str]:
        """The fields of a line, with tabs between them.

        Raises:
            TypeError: it has not as many parts.
        """
        parts = line.split("\t")
        if len(parts) != len(self.features):
            raise TypeError(
                f"{self._rule(task, line)}, in a line with a tab between them; "
                "texts with tabs can be given as jsonl or csv (--format)"
            )
        return dict(zip(self.features, parts))

    def _rule(self, task: TaskDict, value: Any) -> str:
        *first, last = self.features
        return (
            f"to score a text, the task {task['name']} needs "
            f"{', '.join(first)} and {last} as strings, got {value!r:.60}"
        )

    def own_columns(self, columns: Mapping[str, Any]) -> dict[str, str]:
        """What a task's own files call the fields, by field.

        Args:
            columns: of the task's entry, by feature.
        """
        names = {
            field: columns.get(feature, feature)
            for field, feature in self.features.items()
        }
        return {
            field: column
            for field, column in names.items()
            if isinstance(column, str) and column != field
        }

    def column_fields(self, task: TaskDict) -> list[str]:
        """Those of an example's fields that a cell of a table can hold."""
        del task
        return [*self.features]

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """By field what a row calls it, where it is not called as the field.

        Args:
            row: what is given of an example.
            columns: all names of the task's own files, by field.
        """
        return {
            field: name
            for field, name in columns.items()
            if has_column(row, name)
            # An object of that name may hold it.
            and (field not in row or name.startswith(f"{field}."))
        }

    def named(self, value: Any, columns: Mapping[str, str]) -> Any:
        """An example whose fields have their names here.

        Args:
            value: what a user gives.
            columns: see `columns_in`.
        """
        if not isinstance(value, Mapping):
            return value
        return renamed(value, self.columns_in(value, columns))

    def fields_to_show(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that stand before the scores."""
        return dict(fields)

    @abc.abstractmethod
    def predict(
        self, run: Any, task: TaskDict, examples: Sequence[Mapping[str, str]]
    ) -> list[Prediction]:
        """Scores examples.

        Args:
            run: the `Run`.
            task: the task.
            examples: what `fields_of` returned of each.

        Returns:
            Of each "task" and what `likelihood` tells, and a score as the
            type's predictions have it.
        """
