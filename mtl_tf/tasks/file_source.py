"""Examples from the user's own files."""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint, look_up
from mtl_tf.tasks.row_files import Layout, Row, read_table
from mtl_tf.tasks.task import Source

_MANY = 20  # labels that are never too many


class _Examples(NamedTuple):
    texts: np.ndarray  # bytes, object [n]
    labels: np.ndarray  # int64 [n]


class FileSource(Source):
    """One file a split. A file is read when its split is asked for first.

    What is odd keeps its row, is counted, logged once and kept in `warnings`:
    lines that are not UTF-8 (read as Latin-1), empty texts, a file of one
    class, a label for more than every other row.

    Args:
        files: path of each split's file.
        layouts: layout of each split's file.
        labels: names of the classes; None takes them from the training file,
            sorted (by value if all are integers).

    Raises:
        ConfigError: there is neither `labels` nor a training file.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        layouts: Mapping[str, Layout],
        labels: Sequence[str] | None = None,
    ):
        super().__init__()
        self._files = dict(files)
        self._layouts = dict(layouts)
        self._given = tuple(labels) if labels is not None else None
        self._tables: dict[str, list[Row]] = {}
        self._splits: dict[str, _Examples] = {}
        if self._given is None and "train" not in self._files:
            raise ConfigError("without a training file, labels must be given")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        if self._given is not None:
            return self._given
        rows = self._rows("train")
        found = {row.label for row in rows}
        if len(found) > max(_MANY, len(rows) // 2):
            self._note(
                f"{self._files['train']}: {len(found)} labels in {len(rows)} "
                "rows: are columns.text and columns.label the other way round?"
            )
        return tuple(sorted(found, key=_by_value(found)))

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have a file."""
        return tuple(self._files)

    def size(self, split: str) -> int:
        """Returns how many rows the split's file has."""
        return len(self._examples(split).labels)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the rows of the split's file, in order."""
        examples = self._examples(split)
        return tf.data.Dataset.from_tensor_slices(
            {"text": examples.texts, "label": examples.labels}
        )

    def _examples(self, split: str) -> _Examples:
        if split not in self._splits:
            path = look_up(split, self._files, "split")
            rows = self._rows(split)
            ids = {label: i for i, label in enumerate(self.labels)}
            labels = np.array([self._id(path, row, ids) for row in rows])
            # JSON can spell halves of surrogate pairs, which UTF-8 cannot.
            texts = [row.text.encode("utf-8", "replace") for row in rows]
            self._splits[split] = _Examples(
                np.array(texts, object), labels.astype(np.int64)
            )
            self._tables.pop(split)
        return self._splits[split]

    def _id(self, path: str, row: Row, ids: Mapping[str, int]) -> int:
        if row.label in ids:
            return ids[row.label]
        raise DataError(
            f"{path}:{row.line}: unknown label {row.label!r}; "
            f"{hint(row.label, ids)}"
        )

    def _rows(self, split: str) -> list[Row]:
        if split not in self._tables:
            path = self._files[split]
            rows, undecodable = read_table(path, self._layouts[split])
            self._tables[split] = rows
            self._warn(path, rows, undecodable)
        return self._tables[split]

    def _warn(self, path: str, rows: list[Row], undecodable: list[int]) -> None:
        broken = [row.line for row in rows if _has_half_pair(row.text)]
        empty = [row.line for row in rows if not row.text.strip()]
        counted = (
            (undecodable, "not UTF-8, read as Latin-1"),
            (broken, 'with half a surrogate pair, replaced by "?"'),
            (empty, "with an empty text"),
        )
        warnings = [
            f"{path}: {len(lines)} {'row' if len(lines) == 1 else 'rows'} "
            f"{what} (first: line {lines[0]})"
            for lines, what in counted
            if lines
        ]
        if len({row.label for row in rows}) == 1:
            warnings.append(
                f"{path}: all {len(rows)} rows are of one class, "
                f"{rows[0].label!r}"
            )
        for warning in warnings:
            self._note(warning)

    def _note(self, warning: str) -> None:
        logging.warning("%s", warning)
        self.warnings.append(warning)


def _has_half_pair(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


def _by_value(labels: set[str]):
    try:
        values = {label: int(label) for label in labels}
    except ValueError:
        return str
    return lambda label: (values[label], label)
