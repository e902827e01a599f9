"""Files from which a graph makes batches without Python.

Workers of the tf.data service run graphs in separate processes. They cannot
call Python functions of this process, and constants of a graph are sent along
with it. So the concatenated columns of all training splits, and the plan of all
steps, are written to files, which the graph reads by name. TensorFlow folds the
files' contents into the graph as constants: a worker reads a file once and
holds it in memory, for a moment twice.
"""

import functools
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.pipelines.examples import disk_split
from mtl_tf.pipelines.examples.disk_split import DiskSplit
from mtl_tf.pipelines.examples.encoded_split import (
    Column,
    EncodedSplit,
    digest_of,
)
from mtl_tf.pipelines.examples.example_store import ExampleStore

_ROWS_AT_ONCE = 4096


def write_examples(splits: Sequence[EncodedSplit], folder: str) -> DiskSplit:
    """Writes the examples of all splits as one split in files.

    Args:
        splits: one for each task, all with the same columns.
        folder: the parent of the files' folder, which may exist already.

    Raises:
        RunError: the folder is not writable.
    """
    digests = " ".join(map(digest_of, splits))
    name = hashlib.blake2b(digests.encode(), digest_size=16).hexdigest()
    columns = splits[0].columns.items()
    types = {
        key: np.result_type(*(s.columns[key].values for s in splits))
        for key, _ in columns
    }
    return disk_split.cached(
        os.path.join(folder, name),
        "",
        {key: column.axis for key, column in columns},
        functools.partial(_parts, splits, types),
    )


def _parts(
    splits: Sequence[EncodedSplit], types: Mapping[str, np.dtype], skip: int
) -> Iterator[dict[str, Column]]:
    for split in splits:
        for first in range(min(skip, len(split)), len(split), _ROWS_AT_ONCE):
            stop = min(first + _ROWS_AT_ONCE, len(split))
            rows = np.arange(first, stop)
            columns = {key: split.columns[key].whole(rows) for key in types}
            yield {
                key: Column(c.values.astype(types[key], copy=False), c.offsets)
                for key, c in columns.items()
            }
            split.release()
        skip = max(skip - len(split), 0)


def size_of(split: DiskSplit) -> int:
    """The total bytes of a split's files."""
    folder = split.directory
    paths = (os.path.join(folder, name) for name in os.listdir(folder))
    return sum(map(os.path.getsize, paths))


def write_rows(
    parts: Iterator[Mapping[str, np.ndarray]], directory: str
) -> DiskSplit:
    """Writes rows of dense columns, such as a plan, to a new folder.

    Args:
        parts: the columns of the rows, some rows at a time.
        directory: the folder; its old content is removed.
    """
    shutil.rmtree(directory, ignore_errors=True)
    columns = ({k: Column(v) for k, v in part.items()} for part in parts)
    first = next(columns)

    def rows(start: int) -> Iterator[dict[str, Column]]:
        del start  # A killed process leaves nothing to resume.
        yield first
        yield from columns

    return disk_split.cached(directory, "", dict.fromkeys(first, ""), rows)


class FileStore(ExampleStore):
    """Gathers examples from files, as `ExampleStore` does from memory.

    Args:
        examples: the concatenated examples of all splits.
        sizes: the number of examples of each split.
    """

    def __init__(self, examples: DiskSplit, sizes: Sequence[int]):
        self._set_places(examples.columns, examples.axes, sizes)
        self._split = examples

    @property
    def _columns(self) -> dict[str, tuple[tf.Tensor, tf.Tensor | None]]:
        return {
            key: read_column(self._split, key) for key in self._split.columns
        }


def read_column(
    split: DiskSplit, key: str
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """The values and offsets of a column, read in the graph by file name."""
    column = split.columns[key]
    values, offsets = split.paths(key)
    return (
        _read(column.values, values),
        None if column.offsets is None else _read(column.offsets, offsets),
    )


def _read(array: np.ndarray, path: str) -> tf.Tensor:
    if not array.size:  # An empty file cannot be read.
        return tf.zeros([1, *array.shape[1:]], array.dtype)
    return tf.raw_ops.ImmutableConst(
        dtype=array.dtype, shape=array.shape, memory_region_name=path
    )
