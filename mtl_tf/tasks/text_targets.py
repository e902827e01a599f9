"""Parsers of the targets of texts: from cells, JSON and TFDS features."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core import surrogates
from mtl_tf.tasks.prepared import FeatureRequest


class UnknownLabel(Exception):
    """A label that the task does not have; `args` holds it."""


def whole_number(value: Any) -> Any:
    """1 for 1.0, as pandas writes integers; other values unchanged."""
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def label_name(value: Any) -> str:
    """A label as a text without outer spaces.

    Raises:
        ValueError: it has half a surrogate pair, which no file can hold.
    """
    label = str(value).strip()
    if half := surrogates.first_half(label):
        raise ValueError(f"in the label {label!r}, {surrogates.rule(half)}")
    return label


class TextTarget(abc.ABC):
    """Parses and encodes the target of a text.

    Attributes:
        name: the feature's name, and the default name of its column.
        labels: the label names in order; None for those of the training split.
        needs_labels: whether encoded values are label ids.
    """

    name = "label"
    needs_labels = True

    def __init__(self, labels: Sequence[str] | None = None):
        self.given_labels = tuple(labels) if labels is not None else None

    @abc.abstractmethod
    def parse(self, value: Any, column: str) -> Any:
        """Parses a cell of a table (a string) or a JSON value.

        Args:
            value: the cell or value.
            column: the column's name, for messages.

        Raises:
            ValueError: it is no such target; the message is a rule, such as
                "the label is empty".
        """

    def is_missing(self, value: Any) -> bool:
        """Whether a cell or JSON value is missing: empty, null or NaN."""
        if isinstance(value, str):
            return not value.strip()
        return value is None or value != value

    @abc.abstractmethod
    def collect(self, values: Sequence[Any]) -> tuple[str, ...]:
        """The label names that occur in parsed values, in order."""

    @abc.abstractmethod
    def encode(self, value: Any, ids: Mapping[str, int]) -> Any:
        """The number or numbers that encode a parsed value.

        Raises:
            UnknownLabel: it has a label that `ids` lacks.
        """

    def doubts(self, values: Sequence[Any]) -> list[str]:
        """Warnings about the values of a split."""
        del values
        return []

    def label_doubts(
        self, labels: Sequence[str], values: Sequence[Any]
    ) -> list[str]:
        """Warnings about labels that were collected from values."""
        del labels, values
        return []

    @property
    @abc.abstractmethod
    def dtype(self) -> Any:
        """The NumPy type of encoded values."""

    # For TFDS datasets.

    @abc.abstractmethod
    def request(self, column: str) -> FeatureRequest:
        """Asks a TFDS dataset for a feature that can be the target."""

    def names_of(self, feature: Any) -> tuple[str, ...] | None:
        """The label names that a TFDS feature itself lists, else None."""
        del feature
        return None

    def converter(
        self, feature: Any, labels: Sequence[str], dataset: str
    ) -> Callable[[tf.Tensor], tf.Tensor] | None:
        """The function that encodes a TFDS feature in a graph.

        Args:
            feature: the dataset's feature.
            labels: the task's labels.
            dataset: the dataset's name, for messages.

        Returns:
            None if its values must be parsed like those of files.
        """
        del feature, labels, dataset
        return None

    def from_tensor(self, value: Any) -> Any:
        """Converts a NumPy value of a TFDS feature to the form of `parse`."""
        return self.parse(value, self.name)
