"""What the targets of whole texts are read from: cells, JSON, TFDS features."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.tasks.prepared import FeatureRequest


class UnknownLabel(Exception):
    """A label that is none of the task's; `args` holds it."""


def whole_number(value: Any) -> Any:
    """1 of 1.0, which pandas makes of it; other values as they are."""
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


class TextTarget(abc.ABC):
    """How the target of a text is read and numbered.

    Attributes:
        name: of the feature, and of its column unless an entry says another.
        labels: the names of the labels in their order; None takes those of the
            training split.
        needs_labels: whether numbers stand for labels.
    """

    name = "label"
    needs_labels = True

    def __init__(self, labels: Sequence[str] | None = None):
        self.given_labels = tuple(labels) if labels is not None else None

    @abc.abstractmethod
    def parse(self, value: Any, column: str) -> Any:
        """What a cell of a table (a string) or a JSON value says.

        Args:
            value: the cell or value.
            column: its name, for messages.

        Raises:
            ValueError: it says nothing of the kind; the message is a rule,
                such as "the label is empty".
        """

    def is_missing(self, value: Any) -> bool:
        """Whether a cell or JSON value is no target: empty, null or NaN."""
        if isinstance(value, str):
            return not value.strip()
        return value is None or value != value

    @abc.abstractmethod
    def collect(self, values: Sequence[Any]) -> tuple[str, ...]:
        """The names of the labels that parsed values hold, in their order."""

    @abc.abstractmethod
    def encode(self, value: Any, ids: Mapping[str, int]) -> Any:
        """The number, or the numbers, of a parsed value.

        Raises:
            UnknownLabel: it holds a label that `ids` lacks.
        """

    def doubts(self, values: Sequence[Any]) -> list[str]:
        """What is odd about the values of a split, a sentence each."""
        del values
        return []

    def label_doubts(
        self, labels: Sequence[str], values: Sequence[Any]
    ) -> list[str]:
        """What is odd about labels that were collected from values."""
        del labels, values
        return []

    @property
    @abc.abstractmethod
    def dtype(self) -> Any:
        """The NumPy type of encoded values."""

    # Of TFDS datasets.

    @abc.abstractmethod
    def request(self, column: str) -> FeatureRequest:
        """The feature of a TFDS dataset that can be a target."""

    def names_of(self, feature: Any) -> tuple[str, ...] | None:
        """The names of the labels that a TFDS feature lists itself."""
        del feature
        return None

    def converter(
        self, feature: Any, labels: Sequence[str], dataset: str
    ) -> Callable[[tf.Tensor], tf.Tensor] | None:
        """What encodes a TFDS feature in a graph.

        Args:
            feature: of the dataset.
            labels: the task's.
            dataset: the dataset's name, for messages.

        Returns:
            None where its values have to be read as those of files are.
        """
        del feature, labels, dataset
        return None

    def from_tensor(self, value: Any) -> Any:
        """A NumPy value of a TFDS feature as `parse` would return it."""
        return self.parse(value, self.name)
