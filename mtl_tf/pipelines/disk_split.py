"""Splits of encoded examples: NumPy columns in files, mapped into memory.

A split is a folder: a file of values for each column and one of offsets for
each ragged one, as NumPy has them in memory, and `columns.json`, which says
what they are. A folder is written aside and then renamed, so it is complete
or absent; digests tell damage that came later. Writing that was killed goes on
where `column_files` noted that it was.

The kernel reads the pages that are asked for and may drop them again; what
this process holds of them is given back every few batches, so resident memory
grows neither with the examples nor with the steps.
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
from mtl_tf.pipelines.column_files import ColumnFiles
from mtl_tf.pipelines.encoded_split import Column, EncodedSplit, digest_of

_DESCRIPTION = "columns.json"
_PARTIAL = ".partial"
_FORMAT = 1
# A fault maps up to 64 KB, so that a batch of 64 rows maps 4 MB a column.
_GATHERED_BEFORE_RELEASE = 16
_SELECTED_AT_ONCE = 4096


@dataclasses.dataclass(frozen=True)
class DiskSplit(EncodedSplit):
    """A split whose columns lie in files.

    Attributes:
        directory: holds the files.
        mappings: of the files.
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
        """The files of a column: its values, and its offsets if it has any."""
        path = os.path.join(self.directory, key)
        return f"{path}.values", f"{path}.offsets"

    def release(self) -> None:
        """Gives the memory back that pages of the files take."""
        for mapping in self.mappings:
            mapping.madvise(mmap.MADV_DONTNEED)

    def select(self, examples: np.ndarray) -> EncodedSplit:
        """The split of some examples, in a folder beside this one's.

        Args:
            examples: as of `Column.select`.
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
        # At least one part, so that a split of none has its columns.
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
    """A split from its folder, which is written if it is not there.

    A folder that is damaged is written anew. One process at a time may call it
    for a folder.

    Args:
        directory: the folder; its name has to tell what is in it.
        name: the task's name.
        axes: by column, as of `ExampleEncoder`.
        parts: called with how many examples are written already, 0 or as many
            as a killed process had come to with whole parts; yields the columns
            of some examples after others, those left out.

    Raises:
        RunError: the folder cannot be written.
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
        # What fails, fails again; only a killed process may go on.
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
    """A file as an array that cannot be written to."""
    dtype = np.dtype(dtype)
    expected = int(np.prod(shape)) * dtype.itemsize
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != expected:
                raise RunError(f"{path} has {size} bytes, not {expected}")
            if not size:  # which cannot be mapped
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
    """Writes the columns of a split, part by part, from where they are."""
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
