"""Splits of encoded examples in memory-mapped files of NumPy columns.

A split is a folder. It has a file of values for each column, a file of offsets
for each ragged one, both in NumPy's memory format, and `columns.json`, which
describes them. A folder is written under another name and then renamed, so it
is complete or absent; digests reveal later damage. A writing process that was
killed is resumed from the note of `column_files`.

The kernel reads the requested pages and may drop them again. This process
releases its pages every few batches. So resident memory grows neither with the
examples nor with the steps.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import files
from mtl_tf.core.errors import RunError
from mtl_tf.pipelines.examples.column_files import ColumnFiles
from mtl_tf.pipelines.examples.encoded_split import (
    Column,
    EncodedSplit,
    digest_of,
)

_DESCRIPTION = "columns.json"
_PARTIAL = ".partial"
_FORMAT = 1
# A page fault maps up to 64 KB, so a batch of 64 rows maps 4 MB a column.
_GATHERED_BEFORE_RELEASE = 16
_SELECTED_AT_ONCE = 4096


@dataclasses.dataclass(frozen=True)
class DiskSplit(EncodedSplit):
    """A split whose columns are in files.

    Attributes:
        directory: the files' directory.
        mappings: the memory mappings of the files.
    """

    directory: str = ""
    mappings: tuple[mmap.mmap, ...] = dataclasses.field(
        default=(), repr=False, compare=False
    )
    _gathered: list[int] = dataclasses.field(
        default_factory=lambda: [0], repr=False, compare=False
    )

    def gather(
        self, rows: np.ndarray, lengths: int | Sequence[int]
    ) -> dict[str, np.ndarray]:
        """See `EncodedSplit.gather`."""
        gathered = super().gather(rows, lengths)
        self._gathered[0] += 1
        if self._gathered[0] % _GATHERED_BEFORE_RELEASE == 0:
            self.release()
        return gathered

    @property
    def on_disk(self) -> bool:
        """See `EncodedSplit.on_disk`."""
        return True

    def paths(self, key: str) -> tuple[str, str]:
        """The paths of a column's values, and of its offsets if it has any."""
        path = os.path.join(self.directory, key)
        return f"{path}.values", f"{path}.offsets"

    def release(self) -> None:
        """Frees the memory of mapped pages."""
        for mapping in self.mappings:
            mapping.madvise(mmap.MADV_DONTNEED)

    def select(self, examples: np.ndarray) -> EncodedSplit:
        """The split of some examples, in a folder next to this one's.

        Args:
            examples: as for `Column.select`.
        """
        rows = np.arange(len(self))[examples]
        if np.array_equal(rows, np.arange(len(self))):
            return self
        name = hashlib.blake2b(rows.tobytes(), digest_size=8).hexdigest()
        axes = {key: column.axis for key, column in self.columns.items()}
        return cached(
            f"{self.directory}-{name}",
            self.name,
            axes,
            functools.partial(self._of, rows),
        )

    def _of(self, rows: np.ndarray, start: int) -> Iterator[dict[str, Column]]:
        # At least one part, so that an empty split has its columns.
        for first in range(start, max(len(rows), start + 1), _SELECTED_AT_ONCE):
            chosen = rows[first : first + _SELECTED_AT_ONCE]
            yield {k: c.select(chosen) for k, c in self.columns.items()}
            self.release()


def cached(
    directory: str,
    name: str,
    axes: Mapping[str, str],
    parts: Callable[[int], Iterable[Mapping[str, Column]]],
) -> DiskSplit:
    """The split in a folder, which is written if it does not exist.

    A damaged folder is written anew. Only one process at a time may call this
    for a folder.

    Args:
        directory: the folder; its name must identify its content.
        name: the task's name.
        axes: by column, as for `ExampleEncoder`.
        parts: called with the number of examples already written: 0, or the
            whole parts that a killed process had written. It yields the columns
            of the remaining examples, some at a time.

    Raises:
        RunError: the folder is not writable.
    """
    if os.path.isdir(directory):
        with contextlib.suppress(RunError):
            return read(directory, name)
        shutil.rmtree(directory)
    files.make_directory(os.path.dirname(directory))
    partial = f"{directory}{_PARTIAL}"
    os.makedirs(partial, exist_ok=True)
    try:
        _write(partial, axes, parts)
    except Exception:
        # An error would occur again, so only a killed process is resumed.
        shutil.rmtree(partial, ignore_errors=True)
        raise
    os.rename(partial, directory)
    return read(directory, name)


def read(directory: str, name: str) -> DiskSplit:
    """The split in a folder.

    Args:
        directory: that `cached` made.
        name: the task's name.

    Raises:
        RunError: a file is missing or damaged.
    """
    path = os.path.join(directory, _DESCRIPTION)
    description = files.read_json(path)
    mappings: list[mmap.mmap] = []
    try:
        if description["format"] != _FORMAT:
            raise RunError(f"{path} is of another version")
        columns = {
            key: _mapped(directory, key, column, mappings)
            for key, column in description["columns"].items()
        }
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged: {error!r}")
    split = DiskSplit(name, columns, directory, tuple(mappings))
    if digest_of(split) != description["digest"]:
        raise RunError(f"{directory} is damaged: its digest is another one")
    return split


def _mapped(
    directory: str,
    key: str,
    description: Mapping[str, Any],
    mappings: list[mmap.mmap],
) -> Column:
    path = os.path.join(directory, key)
    values = _array(
        f"{path}.values", description["dtype"], description["shape"], mappings
    )
    if not description["ragged"]:
        return Column(values)
    count = description["examples"] + 1
    offsets = _array(f"{path}.offsets", "int64", [count], mappings)
    return Column(values, offsets, description["axis"])


def _array(
    path: str, dtype: str, shape: Sequence[int], mappings: list[mmap.mmap]
) -> np.ndarray:
    """A file as a read-only array."""
    dtype = np.dtype(dtype)
    expected = int(np.prod(shape)) * dtype.itemsize
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != expected:
                raise RunError(f"{path} has {size} bytes, not {expected}")
            if not size:  # An empty file cannot be mapped.
                return np.zeros(shape, dtype)
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}")
    mappings.append(mapping)
    return np.frombuffer(mapping, dtype).reshape(shape)


def _write(
    directory: str,
    axes: Mapping[str, str],
    parts: Callable[[int], Iterable[Mapping[str, Column]]],
) -> None:
    """Writes the columns of a split, part by part, from where it stopped."""
    with ColumnFiles(directory, axes) as writer:
        for part in parts(writer.examples):
            writer.append(part)
    described = writer.descriptions
    columns = {
        key: _mapped(directory, key, column, [])
        for key, column in described.items()
    }
    description = {
        "format": _FORMAT,
        "columns": described,
        "digest": digest_of(EncodedSplit("", columns)),
    }
    path = os.path.join(directory, _DESCRIPTION)
    files.write_text(path, json.dumps(description))
    writer.forget()
