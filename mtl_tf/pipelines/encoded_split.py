"""Splits of encoded examples: NumPy columns in memory."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np

#: The column that has a length of its own.
TARGET = "target"


@dataclasses.dataclass(frozen=True)
class Column:
    """One feature of all examples of a split.

    Attributes:
        values: dense [examples, ...], or the ragged rows one after another
            [all items, ...].
        offsets: None for a dense column; int64 [examples + 1] for a ragged
            one: example i holds `values[offsets[i]:offsets[i + 1]]`.
    """

    values: np.ndarray
    offsets: np.ndarray | None = None

    def __len__(self) -> int:
        if self.offsets is None:
            return len(self.values)
        return len(self.offsets) - 1

    def __getitem__(self, example: int) -> np.ndarray:
        if self.offsets is None:
            return self.values[example]
        start, stop = self.offsets[example : example + 2]
        return self.values[start:stop]

    @property
    def lengths(self) -> np.ndarray:
        """Items of each example, int64 [examples]; only of ragged columns."""
        return np.diff(self.offsets)

    def select(self, examples: np.ndarray) -> "Column":
        """The column of some examples.

        Args:
            examples: bool [examples], or integers [n].
        """
        examples = np.arange(len(self))[examples]
        if self.offsets is None:
            return Column(self.values[examples])
        lengths = self.lengths[examples]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # Where each item stands: its example's start, and its place in it.
        shift = np.repeat(self.offsets[examples] - offsets[:-1], lengths)
        return Column(self.values[shift + np.arange(offsets[-1])], offsets)

    @classmethod
    def join(cls, columns: Sequence["Column"]) -> "Column":
        """The examples of several columns, one after another."""
        values = np.concatenate([column.values for column in columns])
        if columns[0].offsets is None:
            return cls(values)
        lengths = np.concatenate([column.lengths for column in columns])
        return cls(values, np.concatenate([[0], np.cumsum(lengths)]))


@dataclasses.dataclass(frozen=True)
class EncodedSplit:
    """A split of one task as numbers, in source order.

    Attributes:
        name: the task's name; the order of its examples is drawn from it.
        columns: "tokens" (ragged int32); "label" (int32) of a classification
            task, "tags" (ragged int32, as long as the tokens) of a tagging
            task, neither of texts without answers; and where a model reads
            them "casing" (ragged) and "characters" (ragged, [all tokens, W]),
            of any type of integers. Of a translation task "target" (ragged
            int32, of a length of its own).
    """

    name: str
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.columns["tokens"])

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """How long each example is.

        int64 [examples]: its longest ragged feature. With a column "target"
        int64 [examples, 2]: that, and its target.
        """
        ragged = {
            name: column.lengths
            for name, column in self.columns.items()
            if column.offsets is not None
        }
        target = ragged.pop(TARGET, None)
        longest = np.max(list(ragged.values()), axis=0)
        if target is None:
            return longest
        return np.stack([longest, target], axis=1)

    def select(self, examples: np.ndarray) -> "EncodedSplit":
        """The split of some examples; see `Column.select`."""
        columns = {k: c.select(examples) for k, c in self.columns.items()}
        return EncodedSplit(self.name, columns)


def with_all_answers(splits: Sequence[EncodedSplit]) -> list[EncodedSplit]:
    """The splits of a run's tasks, all with the same columns.

    Where some tasks have "label" and others "tags", every split gets both, so
    that all batches of a run are alike and one compiled step serves them. What
    does not apply is 0; which one applies is a matter of the batch's task.

    Args:
        splits: one a task, with answers.
    """
    names = {name for split in splits for name in split.columns}

    def complete(split: EncodedSplit) -> EncodedSplit:
        columns = dict(split.columns)
        tokens = columns["tokens"]
        if "label" in names and "label" not in columns:
            columns["label"] = Column(np.zeros(len(split), np.int32))
        if "tags" in names and "tags" not in columns:
            zeros = np.zeros(len(tokens.values), np.int32)
            columns["tags"] = Column(zeros, tokens.offsets)
        return EncodedSplit(split.name, columns)

    return [complete(split) for split in splits]
