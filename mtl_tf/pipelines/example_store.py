"""Rows -> padded tensors, gathered from columns that lie in memory."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.pipelines.encoded_split import Column, EncodedSplit


class ExampleStore:
    """The examples of one or several splits as tensors.

    Args:
        splits: one a task, all with the same columns.
    """

    def __init__(self, splits: Sequence[EncodedSplit]):
        sizes = [len(split) for split in splits]
        keys = sorted(set.intersection(*(set(s.columns) for s in splits)))
        joined = {k: Column.join([s.columns[k] for s in splits]) for k in keys}
        axes = splits[0].axes
        self._places = {
            key: axes.index(column.axis)
            for key, column in joined.items()
            if column.offsets is not None
        }
        with tf.device("/CPU:0"):
            self._first = tf.constant(
                np.cumsum([0] + sizes[:-1]), tf.int64, name="first_row"
            )
            self._columns = {k: _constants(c) for k, c in joined.items()}

    def gather(
        self, task: tf.Tensor, rows: tf.Tensor, length: tf.Tensor | None
    ) -> Mapping[str, tf.Tensor]:
        """Gathers rows and pads them with 0.

        Args:
            task: int32 [G]: the split of each group.
            rows: int32 [G, B]: examples of that split; -1 is all padding.
            length: T, an integer scalar, or integers [axes], one for each
                time axis of the splits; None: that of each column's longest
                row, but at least 1.

        Returns:
            For every column a tensor [G, B, ...], ragged ones [G, B, T, ...];
            integers are int32.
        """
        real = rows >= 0
        examples = tf.gather(self._first, task)[:, None] + tf.cast(
            rows, tf.int64
        )
        # Row 0 of everything stands in for padding rows, and is zeroed after.
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


def _constants(column: Column) -> tuple[tf.Tensor, tf.Tensor | None]:
    if column.offsets is None:
        return tf.constant(column.values), None
    # One item behind the end: all texts may be empty.
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
