"""Declared features: the parts of a task's examples."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks

INPUT, TARGET = "input", "target"
#: Element types of strings: a text, which is yet to be split along its time
#: axis, or given words, one for each place of the axis.
TEXT, WORDS = "text", "words"
#: Element types of numbers: label ids, or any numbers.
LABELS, NUMBERS = "labels", "numbers"

Axis = str | int


@dataclasses.dataclass(frozen=True)
class Feature:
    """One feature of a task's examples.

    Buckets, stores, padding, token budgets, digests and an export's inputs
    follow from it.

    Attributes:
        name: its key in an example.
        role: `INPUT` or `TARGET`.
        element: `TEXT`, `WORDS`, `LABELS` (int64 in examples, int32 in batches;
            -1 for none) or `NUMBERS` (float32).
        axes: names of time axes and sizes of fixed axes. Each example has its
            own length of each time axis. Features on the same time axis have
            the same length. Input texts on the same axis are joined, with a
            separator between them.

    Raises:
        ConfigError: an unknown role or element.
    """

    name: str
    role: str
    element: str
    axes: tuple[Axis, ...] = ()

    def __post_init__(self):
        what = f"of the feature {self.name!r}"
        checks.one_of(f"role {what}", self.role, (INPUT, TARGET))
        elements = (TEXT, WORDS, LABELS, NUMBERS)
        checks.one_of(f"element {what}", self.element, elements)

    @property
    def time(self) -> str:
        """The name of its time axis; "" if it has none."""
        names = [axis for axis in self.axes if isinstance(axis, str)]
        return names[0] if names else ""

    @property
    def is_string(self) -> bool:
        """Whether its elements are strings."""
        return self.element in (TEXT, WORDS)

    @property
    def rank(self) -> int:
        """The rank of its values in a user's examples: 1 for lists of words."""
        return len(self.axes) if self.element == WORDS else 0

    @property
    def is_class(self) -> bool:
        """Whether it is one label for the whole example."""
        return self.element == LABELS and not self.axes


def inputs(features: Iterable[Feature]) -> list[Feature]:
    """The features that a model reads as input."""
    return [feature for feature in features if feature.role == INPUT]


def targets(features: Iterable[Feature]) -> list[Feature]:
    """The features that a model learns to predict."""
    return [feature for feature in features if feature.role == TARGET]


def text_of(
    features: Iterable[Feature], examples: Mapping[str, Any]
) -> tf.Tensor:
    """The texts of examples: all inputs, words and texts joined by spaces.

    Args:
        features: the features of the examples' task.
        examples: one example, or a (ragged) batch of examples.

    Returns:
        string [], or string [n] for a batch.
    """
    texts = [
        tf.strings.reduce_join(examples[feature.name], axis=-1, separator=" ")
        if feature.element == WORDS
        else examples[feature.name]
        for feature in inputs(features)
    ]
    return texts[0] if len(texts) == 1 else tf.strings.join(texts, " ")
