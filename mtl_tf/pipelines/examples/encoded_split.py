"""Splits of encoded examples: NumPy columns, in memory or mapped files."""

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

_ITEMS_AT_ONCE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Column:
    """One feature of all examples of a split.

    Attributes:
        values: dense [examples, ...], or the concatenated ragged rows [all
            items, ...].
        offsets: None for a dense column. For a ragged one int64 [examples + 1]:
            example i is `values[offsets[i]:offsets[i + 1]]`.
        axis: the name of a ragged column's time axis. Columns of one axis are
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
        """The items of each example of a ragged column, int64 [examples]."""
        return np.diff(self.offsets)

    def select(self, examples: np.ndarray) -> "Column":
        """The column of some examples.

        Args:
            examples: bool [examples], or integers [n].
        """
        examples = np.asarray(examples)
        if examples.dtype == bool:
            examples = np.flatnonzero(examples)
        if self.offsets is None:
            return Column(self.values[examples])
        # `lengths` would read the offsets of all examples.
        starts = self.offsets[examples]
        lengths = self.offsets[examples + 1] - starts
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # The index of each item: its example's start, plus its place in it.
        shift = np.repeat(starts - offsets[:-1], lengths)
        values = self.values[shift + np.arange(offsets[-1])]
        return Column(values, offsets, self.axis)

    def whole(self, examples: np.ndarray) -> "Column":
        """The column of some examples, with zeros that are not stored.

        Args:
            examples: as for `select`.
        """
        return self.select(examples)

    def gather(self, rows: np.ndarray, length: int) -> np.ndarray:
        """Some examples, padded with 0.

        Args:
            rows: integers [n], indices of examples; -1 is all padding.
            length: T, at least the length of every example of `rows`; ignored
                for dense columns.

        Returns:
            [n, ...], for a ragged column [n, T, ...]; integers as int32.
        """
        real = rows >= 0
        inner = self.values.shape[1:]
        if self.offsets is None:
            padded = np.zeros([len(rows), *inner], self.values.dtype)
            padded[real] = self.values[rows[real]]
            return padded
        dtype = self.values.dtype
        if np.issubdtype(dtype, np.integer):
            dtype = np.dtype(np.int32)
        padded = np.zeros([len(rows), length, *inner], dtype)
        chosen = self.select(rows[real])
        sizes = np.zeros(len(rows), np.int64)
        sizes[real] = chosen.lengths
        # A mask orders its places row by row, like the chosen items.
        padded[np.arange(length) < sizes[:, None]] = chosen.values
        return padded

    @classmethod
    def join(cls, columns: Sequence["Column"]) -> "Column":
        """Concatenates the examples of several columns."""
        values = np.concatenate([column.values for column in columns])
        if columns[0].offsets is None:
            return cls(values)
        lengths = np.concatenate([column.lengths for column in columns])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(values, offsets, columns[0].axis)


@dataclasses.dataclass(frozen=True)
class WiderColumn(Column):
    """A column whose fixed axes end in zeros that are not stored.

    Attributes:
        inner: the sizes of the fixed axes, including those zeros.
    """

    inner: tuple[int, ...] = ()

    def whole(self, examples: np.ndarray) -> Column:
        """See `Column.whole`."""
        selected = self.select(examples)
        return dataclasses.replace(
            selected, values=_padded(selected.values, self.inner)
        )

    def gather(self, rows: np.ndarray, length: int) -> np.ndarray:
        """See `Column.gather`."""
        return _padded(super().gather(rows, length), self.inner)


@dataclasses.dataclass(frozen=True)
class EncodedSplit:
    """A split of one task as numbers, in source order.

    Attributes:
        name: the task's name; it seeds the order of the examples.
        columns: the features, those of the first time axis first. Ragged
            columns of one axis have equal lengths.
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
        """The length of each example.

        int64 [examples], the length of its longest feature; with several time
        axes int64 [examples, axes].
        """
        by_axis: dict[str, list[np.ndarray]] = {axis: [] for axis in self.axes}
        for column in self.columns.values():
            if column.offsets is not None:
                by_axis[column.axis].append(column.lengths)
        longest = [np.max(lengths, axis=0) for lengths in by_axis.values()]
        return longest[0] if len(longest) == 1 else np.stack(longest, axis=1)

    def gather(
        self, rows: np.ndarray, lengths: int | Sequence[int]
    ) -> dict[str, np.ndarray]:
        """Some examples of all columns; see `Column.gather`.

        Args:
            rows: integers [n], indices of examples; -1 is all padding.
            lengths: T for all time axes, or for each of `axes`.
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

    def with_columns(self, columns: Mapping[str, Column]) -> "EncodedSplit":
        """The split with columns added or replaced."""
        return dataclasses.replace(self, columns={**self.columns, **columns})

    @property
    def on_disk(self) -> bool:
        """Whether the columns are too large to be copied into memory."""
        return False

    def release(self) -> None:
        """Frees memory that reading has taken; see `DiskSplit`."""


def digest_of(split: EncodedSplit) -> str:
    """A digest of all columns, 32 hexadecimal digits; reads part by part."""
    digest = hashlib.blake2b(digest_size=16)
    for name, column in sorted(split.columns.items()):
        digest.update(name.encode())
        for array in (column.values, column.offsets):
            if array is None:
                continue
            for first in range(0, len(array), _ITEMS_AT_ONCE):
                digest.update(array[first : first + _ITEMS_AT_ONCE].tobytes())
                split.release()
    return digest.hexdigest()


def count_ids(split: EncodedSplit, ids: np.ndarray, size: int) -> np.ndarray:
    """How often each id occurs, int64 [size]; reads part by part.

    Args:
        split: the split that holds the ids.
        ids: integers [n] below `size`.
        size: the number of different ids.
    """
    counts = np.zeros([size], np.int64)
    for first in range(0, len(ids), _ITEMS_AT_ONCE):
        part = ids[first : first + _ITEMS_AT_ONCE]
        counts += np.bincount(part, minlength=size)
        split.release()
    return counts


def alike(splits: Sequence[EncodedSplit]) -> list[EncodedSplit]:
    """Gives the splits of a run's tasks the same columns.

    If tasks have different features, every split gets all of them. So all
    batches of a run have one structure, and one compiled step serves them.
    Features that a task lacks are 0: as long as its texts if the task has their
    time axis, else of length 0. Fixed axes get their largest size.

    Args:
        splits: one for each task.

    Raises:
        ValueError: a column has different time axes.
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
        dataclasses.replace(
            split,
            columns={name: _like(split, name, models[name]) for name in order},
        )
        for split in splits
    ]


def _wider(first: Column, second: Column) -> Column:
    """An empty column with the larger size of each fixed axis of both."""
    inner = np.maximum(first.values.shape[1:], second.values.shape[1:])
    offsets = None if first.offsets is None else np.zeros([1], np.int64)
    dtype = np.result_type(first.values, second.values)
    return Column(np.zeros([0, *inner], dtype), offsets, first.axis)


def _axes_first(columns: Mapping[str, Column]) -> list[str]:
    """Names of columns, grouped by time axis; dense columns come last."""
    axes = list(dict.fromkeys(c.axis for c in columns.values()))
    return sorted(
        columns,
        key=lambda name: (
            columns[name].offsets is None,
            axes.index(columns[name].axis),
        ),
    )


def _like(split: EncodedSplit, name: str, model: Column) -> Column:
    """A split's column in the shape of `model`; zeros if it lacks it."""
    column = split.columns.get(name)
    inner, dtype = model.values.shape[1:], model.values.dtype
    if column is None and model.offsets is None:
        return Column(_zeros([len(split), *inner], dtype))
    if column is None:
        same = (c for c in split.columns.values() if c.offsets is not None)
        offsets = next((c.offsets for c in same if c.axis == model.axis), None)
        if offsets is None:
            offsets = np.zeros([len(split) + 1], np.int64)
        values = _zeros([offsets[-1], *inner], dtype)
        return Column(values, offsets, model.axis)
    if column.values.shape[1:] == inner:
        return column
    if split.on_disk:
        return WiderColumn(column.values, column.offsets, column.axis, inner)
    wider = _padded(column.values, inner)
    return Column(wider, column.offsets, column.axis)


def _zeros(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Read-only zeros that take no memory."""
    return np.broadcast_to(np.zeros([], dtype), shape)


def _padded(values: np.ndarray, inner: Sequence[int]) -> np.ndarray:
    """Pads the last axes of values with zeros."""
    if not inner:
        return values
    missing = np.subtract(inner, values.shape[-len(inner) :])
    whole = [(0, 0)] * (values.ndim - len(inner))
    return np.pad(values, [*whole, *((0, n) for n in missing)])
