"""Multi-label classification: any number of labels for a whole text."""

import ast
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import LABELS
from mtl_tf.tasks.prepared import LABEL_DTYPES, FeatureRequest, class_names
from mtl_tf.tasks.task_type import Entry, Metric
from mtl_tf.tasks.text_targets import (
    TextTarget,
    UnknownLabel,
    label_name,
    whole_number,
)
from mtl_tf.tasks.text_task_type import TextTaskType


class LabelSet(TextTarget):
    """A set of labels: a table cell, a JSON list, or a TFDS sequence.

    Args:
        labels: the label names in order. The default is the names of a sequence
            of ClassLabel, or else the labels of the training split, sorted.
        separator: separates the labels of a cell.
    """

    name = "labels"
    dtype = np.int64

    def __init__(
        self, labels: Sequence[str] | None = None, separator: str = ","
    ):
        super().__init__(labels)
        self._separator = separator

    def parse(self, value: Any, column: str) -> tuple[str, ...]:
        """The labels without repetition; an empty cell or list has none."""
        if isinstance(value, str):
            listed = _listed(value)
            value = value.split(self._separator) if listed is None else listed
        if isinstance(value, list):
            value = [whole_number(label) for label in value]
        is_valid = isinstance(value, list) and all(
            isinstance(label, (str, int)) and not isinstance(label, bool)
            for label in value
        )
        if not is_valid:
            raise ValueError(
                f"{column!r} must be a list of labels, or a string of them "
                f"with {self._separator!r} between them, found "
                f"{json.dumps(value)}"
            )
        labels = map(label_name, value)
        return tuple(dict.fromkeys(label for label in labels if label))

    def collect(self, values: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """The labels, sorted."""
        return tuple(sorted({label for labels in values for label in labels}))

    def encode(
        self, value: tuple[str, ...], ids: Mapping[str, int]
    ) -> list[int]:
        """1 for each label in the set, 0 for the others."""
        for label in value:
            if label not in ids:
                raise UnknownLabel(label)
        return [int(label in value) for label in ids]

    def doubts(self, values: Sequence[tuple[str, ...]]) -> list[str]:
        """Warns if no row has more than one label."""
        if any(len(labels) > 1 for labels in values):
            return []
        return [
            f"no row has more than one label: is {self._separator!r} between "
            "them (separator), and is the task of the type classification?"
        ]

    def request(self, column: str) -> FeatureRequest:
        """Asks a dataset for a sequence of labels."""
        return FeatureRequest(
            self.name, column, LABEL_DTYPES, 1, "a sequence of labels"
        )

    def names_of(self, feature: Any) -> tuple[str, ...] | None:
        """The names of a sequence of ClassLabel, else None."""
        return class_names(getattr(feature, "feature", feature))

    def converter(self, feature: Any, labels: Sequence[str], dataset: str):
        """Maps the ids of a sequence of ClassLabel to ones and zeros."""
        names = self.names_of(feature)
        if names is None:
            return None
        missing = sorted(set(names) - set(labels))
        if missing:
            raise ConfigError(
                f"labels lacks {', '.join(missing)}, which the {dataset} has"
            )
        ids = tf.constant([list(labels).index(n) for n in names], tf.int64)

        def convert(numbers: tf.Tensor) -> tf.Tensor:
            marked = tf.one_hot(tf.gather(ids, numbers), len(labels))
            return tf.cast(tf.reduce_any(marked > 0, axis=0), tf.int64)

        return convert

    def from_tensor(self, value: Any) -> tuple[str, ...]:
        """Turns an array of bytes or integers into labels."""
        labels = [
            label.decode("utf-8", "replace")
            if isinstance(label, bytes)
            else str(int(label))
            for label in value
        ]
        return self.parse(labels, self.name)


class LabelColumns(LabelSet):
    """A set of labels, each with a column of its own of ones and zeros.

    Args:
        labels: the label names, in the order of the columns.
    """

    def is_missing(self, value: Any) -> bool:
        """Whether one of the columns is empty."""
        cells = value.values() if isinstance(value, Mapping) else [value]
        return any(map(super().is_missing, cells))

    def parse(self, value: Any, column: str) -> tuple[str, ...]:
        """The labels whose columns are set."""
        if not isinstance(value, Mapping):
            return super().parse(value, column)
        marks = [_is_set(cell, name) for name, cell in value.items()]
        return tuple(itertools.compress(self.given_labels, marks))

    def doubts(self, values: Sequence[tuple[str, ...]]) -> list[str]:
        """Warns if no row has more than one label."""
        if any(len(labels) > 1 for labels in values):
            return []
        return [
            "no row has more than one label: is the task of the type "
            "classification?"
        ]


def _is_set(cell: Any, column: str | int) -> bool:
    """Whether a label's own column says that a row has it.

    Raises:
        ValueError: it says neither.
    """
    value = cell.strip().lower() if isinstance(cell, str) else cell
    marks = {"1": True, "1.0": True, "true": True}
    marks |= {"0": False, "0.0": False, "false": False}
    mark = marks.get(str(value).lower())
    if mark is None:
        raise ValueError(
            f"the column {column!r} must be 1 if the row has that label, else "
            f"0, found {json.dumps(cell)}"
        )
    return mark


def _listed(cell: str) -> list[Any] | None:
    """The list that a cell holds in Python or JSON notation, or None.

    pandas writes such cells.
    """
    if not (cell.strip().startswith("[") and cell.strip().endswith("]")):
        return None
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _of_columns(entry: Entry, columns: Sequence[str | int]) -> LabelColumns:
    """The parser of labels that have a column each."""
    if entry.get("separator") is not None:
        raise ConfigError(
            "separator is for the labels of one cell, and columns.labels lists "
            "a column for each label: leave it out"
        )
    labels = fields.strings(entry, "labels", 1)
    if labels is None and not all(isinstance(c, str) for c in columns):
        raise ConfigError(
            "columns.labels has numbers of columns: give the names of the "
            "labels in `labels`, in the same order"
        )
    if labels is not None and len(labels) != len(columns):
        raise ConfigError(
            f"labels has {len(labels)} names, and columns.labels "
            f"{len(columns)} columns: each column is that of the label in its "
            "place"
        )
    return LabelColumns(labels or columns)


class MultiLabel(TextTaskType):
    """Any number of labels, also none, for a whole text.

    The target's column is "labels". Entry fields besides those of
    `TextTaskType`:

    - `labels`: the label names.
    - `columns`: `labels` may be a list of columns, one for each label, with
      ones and zeros.
    - `separator`: separates the labels of a csv or tsv cell; "," by default. In
      jsonl the labels may also be a list.
    """

    name = "multi_label"
    fields = ("labels", "separator")
    metrics = {
        "micro_f1": Metric(),
        "macro_f1": Metric(),
        "average_precision": Metric(),
        "subset_accuracy": Metric(),
    }
    element = LABELS
    may_have_several_columns = True

    def target(self, entry: Entry) -> LabelSet:
        """The parser of the sets of labels."""
        columns = entry.get("columns")
        listed = columns.get("labels") if isinstance(columns, Mapping) else ""
        if isinstance(listed, (list, tuple)) and fields.is_columns(listed):
            return _of_columns(entry, listed)
        separator = fields.text(entry, "separator", ",")
        if not separator:
            raise ConfigError("separator must not be empty")
        return LabelSet(fields.strings(entry, "labels", 1), separator)

    def target_axes(self, labels: Sequence[str]) -> tuple[int, ...]:
        """One place for each label."""
        return (len(labels),)

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Micro and macro F1, and average precision."""
        return ("micro_f1", "macro_f1", "average_precision")


TYPE = MultiLabel()
