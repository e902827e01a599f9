"""Sources with further splits, each a part of the source's own."""

import abc
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.tasks.batching import AT_ONCE, batched
from mtl_tf.tasks.source import Source


class PartsSource(Source):
    """A source, and further splits that are parts of its examples.

    A part keeps the order of the examples. Other splits are unchanged.

    Args:
        source: the source of the examples.
        parts: the names of the further splits.
    """

    def __init__(self, source: Source, parts: Sequence[str]):
        super().__init__()
        self._source = source
        self._parts = tuple(parts)
        self._datasets: dict[str, tf.data.Dataset] = {}
        # A shared list, so that later warnings of the source appear here too.
        self.warnings = source.warnings

    @property
    def split_names(self) -> tuple[str, ...]:
        """The source's splits and the parts."""
        return (*self._source.split_names, *self._parts)

    def size(self, split: str) -> int:
        """Returns how many examples `split` has."""
        if split not in self._parts:
            return self._source.size(split)
        return int(np.sum(self.mask(split)))

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of `split`, in source order."""
        if split not in self._parts:
            return self._source.dataset(split)
        if split not in self._datasets:  # each one traces a function
            self._datasets[split] = select(self.whole(), self.mask(split))
        return self._datasets[split]

    def place(self, split: str, number: int) -> str:
        """See `Source.place`; the example's place in the source."""
        if split not in self._parts:
            return self._source.place(split, number)
        (rows,) = np.nonzero(self.mask(split))
        return self.place_in_whole(int(rows[number]))

    @abc.abstractmethod
    def whole(self) -> tf.data.Dataset:
        """The n examples that are divided."""

    @abc.abstractmethod
    def mask(self, part: str) -> np.ndarray:
        """Which examples are in `part`, bool [n]."""

    @abc.abstractmethod
    def place_in_whole(self, number: int) -> str:
        """The location of one of the examples that are divided."""


def select(dataset: tf.data.Dataset, selected: np.ndarray) -> tf.data.Dataset:
    """The elements of `dataset` where bool [n] `selected` is true, in order."""
    size = int(np.sum(selected))
    # By batches, as a function that is called for each element takes some
    # twenty times as long.
    batches = tf.data.Dataset.zip(
        batched(dataset),
        tf.data.Dataset.from_tensor_slices(selected).batch(AT_ONCE),
    )
    examples = batches.map(_masked).unbatch()
    return examples.apply(tf.data.experimental.assert_cardinality(size))


@tf.autograph.experimental.do_not_convert
def _masked(
    batch: dict[str, tf.Tensor], kept: tf.Tensor
) -> dict[str, tf.Tensor]:
    return {
        name: tf.ragged.boolean_mask(column, kept)
        if isinstance(column, tf.RaggedTensor)
        else tf.boolean_mask(column, kept)
        for name, column in batch.items()
    }
