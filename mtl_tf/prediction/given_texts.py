"""Scores given texts, for task types whose models write texts."""

import abc
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mtl_tf.core.columns import has_column, renamed
from mtl_tf.prediction.predicting_run import PredictingRun
from mtl_tf.prediction.prediction_type import (
    Prediction,
    TaskDict,
    as_json,
    no_texts,
)

#: Stands for the end of a text, which also has a probability.
END = "</s>"


def likelihood(words: Sequence[str], values: np.ndarray) -> Prediction:
    """The likelihood fields of a text, as JSON values.

    Args:
        words: the text's words, without the end.
        values: float [words + 1], the log-likelihood of each word, and last
            that of the end.
    """
    each = np.asarray(values, np.float64)
    return {
        "log_likelihood": float(each.sum()),
        "perplexity": float(np.exp(-each.mean())),
        "words": [*words, END],
        "log_likelihoods": each.tolist(),
    }


def as_text(prediction: Mapping[str, Any]) -> str:
    """The log-likelihood as one line."""
    return f"{prediction['log_likelihood']!r}\n"


class GivenTexts(abc.ABC):
    """Scores given texts by how likely a model is to write them.

    Attributes:
        features: field of an example to feature of the task's type, in the
            order of a line; the last one is the scored text.
        forms: as for `PredictionType`.
    """

    features: Mapping[str, str]
    forms: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
        {"jsonl": as_json, "text": as_text}
    )

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, str]:
        """Parses an example into fields.

        Args:
            task: the task.
            value: a mapping of the `features`, or a list of as many strings.

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
        """Parses a line of tab-separated fields.

        Raises:
            TypeError: it has another number of fields.
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
            f"{', '.join(first)} and {last} as strings, got "
            f"{no_texts(value, [*self.features])}"
        )

    def own_columns(self, columns: Mapping[str, Any]) -> dict[str, str]:
        """The column names of the fields in a task's own files, by field.

        Args:
            columns: the column names of the task's entry, by feature.
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
        """The fields of an example that one cell of a table can hold."""
        del task
        return [*self.features]

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """The row's column names by field, where they differ from the field.

        Args:
            row: the given example.
            columns: the column names of the task's own files, by field.
        """
        return {
            field: name
            for field, name in columns.items()
            if has_column(row, name)
            # The column may be nested in an object with the field's name.
            and (field not in row or name.startswith(f"{field}."))
        }

    def named(self, value: Any, columns: Mapping[str, str]) -> Any:
        """Renames an example's columns to the names of the fields.

        Args:
            value: the user's example.
            columns: see `columns_in`.
        """
        if not isinstance(value, Mapping):
            return value
        return renamed(value, self.columns_in(value, columns))

    def fields_to_show(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that are printed before the scores."""
        return dict(fields)

    @abc.abstractmethod
    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: Sequence[Mapping[str, str]],
    ) -> list[Prediction]:
        """Scores examples.

        Args:
            run: the `Run`.
            task: the task.
            examples: the return value of `fields_of` for each.

        Returns:
            For each example a dict of "task", the fields of `likelihood`,
            and a score as in the type's predictions.
        """
