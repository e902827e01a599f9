"""Declared features: what the examples of a task consist of."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

INPUT, TARGET = "input", "target"
#: Element types of strings: a text that is still to be split along its time
#: axis, and words that are given, one for each place of it.
TEXT, WORDS = "text", "words"
#: Element types of numbers: numbers of labels, and any numbers.
LABELS, NUMBERS = "labels", "numbers"

Axis = str | int


@dataclasses.dataclass(frozen=True)
class Feature:
    """One feature of a task's examples.

    Buckets, stores, padding, token budgets, digests and what an export takes
    follow from it.

    Attributes:
        name: its key in an example.
        role: `INPUT` or `TARGET`.
        element: `TEXT`, `WORDS`, `LABELS` (int64 in examples, int32 in
            batches; -1 for none) or `NUMBERS` (float32).
        axes: names of time axes, each of which has a length of its own in
            every example, and sizes of fixed axes. Features on the same time
            axis are as long as each other; inputs of texts on the same axis
            stand there one after the other, with a separator between them.
    """

    name: str
    role: str
    element: str
    axes: tuple[Axis, ...] = ()

    @property
    def time(self) -> str:
        """Its time axis; "" if it has none."""
        names = [axis for axis in self.axes if isinstance(axis, str)]
        return names[0] if names else ""

    @property
    def is_string(self) -> bool:
        """Whether it is made of strings."""
        return self.element in (TEXT, WORDS)

    @property
    def is_class(self) -> bool:
        """Whether it is one label of the whole example."""
        return self.element == LABELS and not self.axes


def inputs(features: Iterable[Feature]) -> list[Feature]:
    """The features that a model reads."""
    return [feature for feature in features if feature.role == INPUT]


def targets(features: Iterable[Feature]) -> list[Feature]:
    """The features that a model learns to tell."""
    return [feature for feature in features if feature.role == TARGET]


def text_of(
    features: Iterable[Feature], examples: Mapping[str, Any]
) -> tf.Tensor:
    """The texts of examples: all inputs, words and texts joined by spaces.

    Args:
        features: of the examples' task.
        examples: one example, or a (ragged) batch of them.

    Returns:
        string [], or string [n] of a batch.
    """
    texts = [
        tf.strings.reduce_join(examples[feature.name], axis=-1, separator=" ")
        if feature.element == WORDS
        else examples[feature.name]
        for feature in inputs(features)
    ]
    return texts[0] if len(texts) == 1 else tf.strings.join(texts, " ")
