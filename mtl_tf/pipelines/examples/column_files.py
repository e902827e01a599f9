"""Files of columns that grow part by part, and survive a kill.

A column is a file of values, in NumPy's memory format; a ragged column has also
a file of offsets. After each `_EXAMPLES_A_NOTE` examples, the files are flushed
to disk, and a note says how long they are. On resuming, anything that a killed
process wrote after its last note is cut off.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mtl_tf.core import files
from mtl_tf.core.errors import RunError
from mtl_tf.pipelines.examples.encoded_split import Column

_NOTE = "written.json"
# Less than a second of work, while a note takes milliseconds.
_EXAMPLES_A_NOTE = 1 << 15
_OFFSET = np.dtype(np.int64)

Description = dict[str, Any]


class ColumnFiles(contextlib.ExitStack):
    """The files of some columns; entering resumes from the last note.

    Args:
        directory: the files' directory.
        axes: by column, as for `ExampleEncoder`; other columns are not written.

    Attributes:
        examples: the number of examples written.
    """

    def __init__(self, directory: str, axes: Mapping[str, str]):
        super().__init__()
        self._directory, self._axes = directory, axes
        self._columns: dict[str, _ColumnFile] = {}
        self.examples = self._noted = 0

    def __enter__(self) -> "ColumnFiles":
        for key, description in _noted(self._directory).items():
            self._open(key, description)
            self.examples = self._noted = description["examples"]
        return self

    def _open(self, key: str, description: Description) -> None:
        column = _ColumnFile(os.path.join(self._directory, key), description)
        self._columns[key] = self.enter_context(column)

    def append(self, part: Mapping[str, Column]) -> None:
        """Appends the columns of further examples."""
        for key in self._axes.keys() & part.keys():
            if key not in self._columns:
                self._open(key, _of_none(part[key], self._axes[key]))
            self._columns[key].append(part[key])
        self.examples += len(next(iter(part.values())))
        if self.examples - self._noted >= _EXAMPLES_A_NOTE:
            self._note()

    def _note(self) -> None:
        for column in self._columns.values():
            column.flush()
        path = os.path.join(self._directory, _NOTE)
        files.write_text(path, json.dumps(self.descriptions))
        self._noted = self.examples

    def forget(self) -> None:
        """Removes the note after everything is written."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self._directory, _NOTE))

    @property
    def descriptions(self) -> dict[str, Description]:
        """What has been written, by column."""
        return {
            key: self._columns[key].description
            for key in self._axes
            if key in self._columns
        }


def _noted(directory: str) -> dict[str, Description]:
    """The noted columns; {} if the files are shorter than the note says."""
    try:
        noted = files.read_json(os.path.join(directory, _NOTE))
        for key, description in noted.items():
            path = os.path.join(directory, key)
            for ending, size in _sizes(description).items():
                if os.path.getsize(path + ending) < size:
                    return {}
    except (RunError, OSError, AttributeError, LookupError, TypeError):
        return {}
    return noted


def _of_none(column: Column, axis: str) -> Description:
    """The description of a column without examples."""
    return {
        "dtype": column.values.dtype.name,
        "shape": [0, *column.values.shape[1:]],
        "ragged": column.offsets is not None,
        "axis": axis,
        "examples": 0,
    }


def _sizes(description: Description) -> dict[str, int]:
    """The bytes of each file of a column, by file ending."""
    values = np.dtype(description["dtype"]).itemsize
    sizes = {".values": values * int(np.prod(description["shape"]))}
    if description["ragged"]:
        # Without examples there is no offset, not even the first 0.
        ends = description["examples"] + bool(description["examples"])
        sizes[".offsets"] = _OFFSET.itemsize * ends
    return sizes


class _ColumnFile(contextlib.ExitStack):
    """Appends to the file of one column, after its described content."""

    def __init__(self, path: str, description: Description):
        super().__init__()
        self._path = path
        self.description = description

    def __enter__(self) -> "_ColumnFile":
        self._files = [
            self._opened(self._path + ending, size)
            for ending, size in _sizes(self.description).items()
        ]
        if self.description["ragged"] and not self.description["examples"]:
            self._files[1].write(np.zeros([1], _OFFSET).tobytes())
        return self

    def _opened(self, path: str, size: int) -> Any:
        file = self.enter_context(open(path, "ab"))  # noqa: SIM115
        file.truncate(size)
        self.callback(_flushed, file)
        return file

    def append(self, column: Column) -> None:
        """Appends examples."""
        items, *inner = self.description["shape"]
        self._files[0].write(column.values.tobytes())
        if column.offsets is not None:
            ends = (column.offsets[1:] + items).astype(_OFFSET)
            self._files[1].write(ends.tobytes())
        self.description = {
            **self.description,
            "shape": [items + len(column.values), *inner],
            "examples": self.description["examples"] + len(column),
        }

    def flush(self) -> None:
        """Forces everything written to disk."""
        for file in self._files:
            _flushed(file)


def _flushed(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
