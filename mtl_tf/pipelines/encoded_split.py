"""Splits of encoded examples: NumPy columns in memory."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Column:
    """One feature of all examples of a split.

    Attributes:
        values: dense [examples, ...], or the ragged rows one after another
            [all items, ...].
        offsets: None for a dense column; int64 [examples + 1] for a ragged
            one: example i holds `values[offsets[i]:offsets[i + 1]]`.
        axis: name of a ragged column's time axis: columns of one axis are
            padded to one length.
    """

    values: np.ndarray
    offsets: np.ndarray | None = None
    axis: str = ""

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
        values = self.values[shift + np.arange(offsets[-1])]
        return Column(values, offsets, self.axis)

    def gather(self, rows: np.ndarray, length: int) -> np.ndarray:
        """Some examples, padded with 0.

        Args:
            rows: integers [n], places of examples; -1 is all padding.
            length: T, no example of `rows` is longer; of dense columns
                nothing.

        Returns:
            [n, ...], of a ragged column [n, T, ...], integers as int32.
        """
        real = rows >= 0
        inner = self.values.shape[1:]
        if self.offsets is None:
            found = np.zeros([len(rows), *inner], self.values.dtype)
            found[real] = self.values[rows[real]]
            return found
        dtype = self.values.dtype
        if np.issubdtype(dtype, np.integer):
            dtype = np.dtype(np.int32)
        found = np.zeros([len(rows), length, *inner], dtype)
        chosen = self.select(rows[real])
        sizes = np.zeros(len(rows), np.int64)
        sizes[real] = chosen.lengths
        # The places of a mask come row by row, as the chosen items do.
        found[np.arange(length) < sizes[:, None]] = chosen.values
        return found

    @classmethod
    def join(cls, columns: Sequence["Column"]) -> "Column":
        """The examples of several columns, one after another."""
        values = np.concatenate([column.values for column in columns])
        if columns[0].offsets is None:
            return cls(values)
        lengths = np.concatenate([column.lengths for column in columns])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(values, offsets, columns[0].axis)


@dataclasses.dataclass(frozen=True)
class EncodedSplit:
    """A split of one task as numbers, in source order.

    Attributes:
        name: the task's name; the order of its examples is drawn from it.
        columns: its features, those of the first time axis first. Ragged
            columns of one axis are equally long.
    """

    name: str
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @functools.cached_property
    def axes(self) -> tuple[str, ...]:
        """Its time axes, in the order of the columns."""
        ragged = (c for c in self.columns.values() if c.offsets is not None)
        return tuple(dict.fromkeys(column.axis for column in ragged))

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        """How long each example is.

        int64 [examples]: its longest feature; where there are several time
        axes int64 [examples, axes].
        """
        by_axis: dict[str, list[np.ndarray]] = {axis: [] for axis in self.axes}
        for column in self.columns.values():
            if column.offsets is not None:
                by_axis[column.axis].append(column.lengths)
        longest = [np.max(found, axis=0) for found in by_axis.values()]
        return longest[0] if len(longest) == 1 else np.stack(longest, axis=1)

    def gather(
        self, rows: np.ndarray, lengths: int | Sequence[int]
    ) -> dict[str, np.ndarray]:
        """Some examples of all columns; see `Column.gather`.

        Args:
            rows: integers [n], places of examples; -1 is all padding.
            lengths: T of every time axis, or of each of `axes`.
        """
        each = dict(zip(self.axes, np.broadcast_to(lengths, len(self.axes))))
        return {
            name: column.gather(rows, each.get(column.axis, 0))
            for name, column in sorted(self.columns.items())
        }

    def select(self, examples: np.ndarray) -> "EncodedSplit":
        """The split of some examples; see `Column.select`."""
        columns = {k: c.select(examples) for k, c in self.columns.items()}
        return EncodedSplit(self.name, columns)


def alike(splits: Sequence[EncodedSplit]) -> list[EncodedSplit]:
    """The splits of a run's tasks, all with the same columns.

    Where tasks have different features, every split gets all of them, so that
    all batches of a run are alike and one compiled step serves them. What a
    task does not have is 0: as long as its texts on a time axis that it has,
    without length on another. Fixed axes get the largest size of all.

    Args:
        splits: one a task.

    Raises:
        ValueError: a column is on different time axes.
    """
    models: dict[str, Column] = {}
    for split in splits:
        for name, column in split.columns.items():
            known = models.setdefault(name, column)
            if column.axis != known.axis:
                raise ValueError(
                    f"{name} is on the time axis {column.axis!r} in task "
                    f"{split.name}, but on {known.axis!r} in another"
                )
            models[name] = _wider(known, column)
    order = _axes_first(models)
    return [
        EncodedSplit(
            split.name,
            {name: _like(split, name, models[name]) for name in order},
        )
        for split in splits
    ]


def _wider(first: Column, second: Column) -> Column:
    """The shape of both, of no rows: the larger size of each fixed axis."""
    inner = np.maximum(first.values.shape[1:], second.values.shape[1:])
    offsets = None if first.offsets is None else np.zeros([1], np.int64)
    dtype = np.result_type(first.values, second.values)
    return Column(np.zeros([0, *inner], dtype), offsets, first.axis)


def _axes_first(columns: Mapping[str, Column]) -> list[str]:
    """Names of columns, those of one axis together, dense ones last."""
    axes = list(dict.fromkeys(c.axis for c in columns.values()))
    return sorted(
        columns,
        key=lambda name: (
            columns[name].offsets is None,
            axes.index(columns[name].axis),
        ),
    )


def _like(split: EncodedSplit, name: str, model: Column) -> Column:
    """A column of a split with the shape of `model`, of zeros if it lacks."""
    column = split.columns.get(name)
    inner, dtype = model.values.shape[1:], model.values.dtype
    if column is None and model.offsets is None:
        return Column(np.zeros([len(split), *inner], dtype))
    if column is None:
        same = (c for c in split.columns.values() if c.offsets is not None)
        offsets = next((c.offsets for c in same if c.axis == model.axis), None)
        if offsets is None:
            offsets = np.zeros([len(split) + 1], np.int64)
        values = np.zeros([offsets[-1], *inner], dtype)
        return Column(values, offsets, model.axis)
    missing = np.subtract(inner, column.values.shape[1:])
    if not np.any(missing):
        return column
    wider = np.pad(column.values, [(0, 0), *((0, n) for n in missing)])
    return Column(wider, column.offsets, column.axis)
