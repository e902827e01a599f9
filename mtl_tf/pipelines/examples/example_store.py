"""Gathers rows of splits as padded tensors."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf

from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit


class Store(Protocol):
    """The examples of one or several splits."""

    def gather(
        self, task: tf.Tensor, rows: tf.Tensor, length: tf.Tensor | None
    ) -> Mapping[str, tf.Tensor]:
        """See `ExampleStore.gather`."""


def make_store(splits: Sequence[EncodedSplit]) -> Store:
    """Makes a store of splits, one per task, with equal columns."""
    on_disk = any(split.on_disk for split in splits)
    return DiskStore(splits) if on_disk else ExampleStore(splits)


class ExampleStore:
    """The examples of one or several splits as tensors in memory.

    Args:
        splits: one for each task, all with the same columns.
    """

    def __init__(self, splits: Sequence[EncodedSplit]):
        keys = _common(splits)
        joined = {k: Column.join([s.columns[k] for s in splits]) for k in keys}
        self._set_places(joined, splits[0].axes, [len(s) for s in splits])
        with tf.device("/CPU:0"):
            self._columns = {k: _constants(c) for k, c in joined.items()}

    def _set_places(
        self,
        columns: Mapping[str, Column],
        axes: Sequence[str],
        sizes: Sequence[int],
    ) -> None:
        """Stores the axis of each column, and where each split begins."""
        self._places = {
            key: axes.index(column.axis)
            for key, column in columns.items()
            if column.offsets is not None
        }
        with tf.device("/CPU:0"):
            self._first = tf.constant(
                np.cumsum([0, *sizes[:-1]]), tf.int64, name="first_row"
            )

    def gather(
        self, task: tf.Tensor, rows: tf.Tensor, length: tf.Tensor | None
    ) -> Mapping[str, tf.Tensor]:
        """Gathers rows and pads them with 0.

        Args:
            task: int32 [G]: the split of each group.
            rows: int32 [G, B]: examples of that split; -1 is all padding.
            length: T, an integer scalar, or integers [axes], one for each time
                axis of the splits; None for each column's longest row, but at
                least 1.

        Returns:
            For each column a tensor [G, B, ...], for ragged ones [G, B, T,
            ...]; integers are int32.
        """
        real = rows >= 0
        examples = tf.gather(self._first, task)[:, None] + tf.cast(
            rows, tf.int64
        )
        # Padding rows gather row 0 and are then set to zero.
        examples = tf.where(real, examples, tf.zeros_like(examples))
        return {
            key: _dense(values, examples, real)
            if offsets is None
            else _padded(
                values, offsets, examples, real, self._length(length, key)
            )
            for key, (values, offsets) in self._columns.items()
        }

    def _length(self, length: tf.Tensor | None, key: str) -> tf.Tensor | None:
        """The padded length of a column."""
        if length is None or not np.ndim(length):
            return length
        return length[self._places[key]]


class DiskStore:
    """The examples of splits, some of which are on disk.

    It gathers the same as `ExampleStore`, in NumPy.

    Args:
        splits: one for each task, all with the same columns.
    """

    def __init__(self, splits: Sequence[EncodedSplit]):
        self._splits = list(splits)
        self._keys = _common(splits)
        columns = [[s.columns[key] for s in splits] for key in self._keys]
        self._types = [_gathered_type(several) for several in columns]
        self._timed = [several[0].offsets is not None for several in columns]

    def gather(
        self, task: tf.Tensor, rows: tf.Tensor, length: tf.Tensor | None
    ) -> Mapping[str, tf.Tensor]:
        """See `ExampleStore.gather`."""
        # -1 stands for None, which a graph has no tensor for.
        length = -1 if length is None else length
        values = tf.numpy_function(
            self._gathered, [task, rows, length], self._types, stateful=False
        )
        gathered = dict(zip(self._keys, values))
        for key, is_timed in zip(self._keys, self._timed):
            inner = self._inner(key)
            shape = [*rows.shape, *([None] if is_timed else []), *inner]
            gathered[key] = tf.ensure_shape(gathered[key], shape)
        return gathered

    def _gathered(
        self, task: np.ndarray, rows: np.ndarray, length: np.ndarray
    ) -> list[np.ndarray]:
        splits = [self._splits[number] for number in task]
        if np.all(length < 0):
            lengths = [s.lengths[r[r >= 0]] for s, r in zip(splits, rows)]
            length = np.concatenate(lengths).max(axis=0, initial=1)
        parts = [s.gather(r, length) for s, r in zip(splits, rows)]
        return [
            np.stack([part[key] for part in parts]).astype(dtype, copy=False)
            for key, dtype in zip(self._keys, self._types)
        ]

    def _inner(self, key: str) -> tuple[int, ...]:
        """The sizes of a column's fixed axes."""
        column = self._splits[0].columns[key]
        return column.gather(np.array([-1]), 1).shape[
            1 if column.offsets is None else 2 :
        ]


def _common(splits: Sequence[EncodedSplit]) -> list[str]:
    """The columns that all splits have."""
    return sorted(set.intersection(*(set(s.columns) for s in splits)))


def _gathered_type(columns: Sequence[Column]) -> np.dtype:
    """The type of batches of one column of several splits."""
    dtype = np.result_type(*(column.values for column in columns))
    ragged = columns[0].offsets is not None
    if ragged and np.issubdtype(dtype, np.integer):
        return np.dtype(np.int32)
    return dtype


def _constants(column: Column) -> tuple[tf.Tensor, tf.Tensor | None]:
    if column.offsets is None:
        return tf.constant(column.values), None
    # One item after the end, as all texts may be empty.
    end = np.zeros([1, *column.values.shape[1:]], column.values.dtype)
    values = tf.constant(np.concatenate([column.values, end]))
    return values, tf.constant(column.offsets, tf.int64)


def _dense(values: tf.Tensor, examples: tf.Tensor, real: tf.Tensor):
    gathered = tf.gather(values, examples)
    ones = [1] * (values.shape.rank - 1)
    mask = tf.reshape(real, tf.concat([tf.shape(real), ones], 0))
    return tf.where(mask, gathered, tf.zeros_like(gathered))


def _padded(
    values: tf.Tensor,
    offsets: tf.Tensor,
    examples: tf.Tensor,
    real: tf.Tensor,
    length: tf.Tensor | None,
) -> tf.Tensor:
    start = tf.gather(offsets, examples)
    size = tf.gather(offsets, examples + 1) - start
    size = tf.where(real, size, tf.zeros_like(size))
    if length is None:
        length = tf.maximum(tf.reduce_max(size), 1)
    place = tf.range(tf.cast(length, tf.int64))
    inside = place < size[..., None]
    index = tf.where(inside, start[..., None] + place, 0)
    gathered = tf.gather(values, index)
    if values.dtype.is_integer:
        gathered = tf.cast(gathered, tf.int32)
    ones = [1] * (values.shape.rank - 1)
    inside = tf.reshape(inside, tf.concat([tf.shape(inside), ones], 0))
    return gathered * tf.cast(inside, gathered.dtype)
