"""Texts with targets, from the user's own files."""

import functools
from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint, look_up
from mtl_tf.tasks.row_files import Layout, Row, Table, read_table
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.text_targets import TextTarget, UnknownLabel


class TextFileSource(Source):
    """One file a split. A file is read when its split is asked for first.

    What is odd keeps its row, is counted, logged once and kept in `warnings`:
    lines that are not UTF-8 (read as Latin-1), empty texts, a file of one
    class, a label for more than every other row.

    Args:
        files: path of each split's file.
        layouts: layout of each split's file; its columns are those of the
            texts, by feature, and last the target's.
        target: reads the targets.

    Raises:
        ConfigError: there are neither names of labels nor a training file.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        layouts: Mapping[str, Layout],
        target: TextTarget,
    ):
        super().__init__()
        self._files = dict(files)
        self._layouts = dict(layouts)
        self._target = target
        self._tables: dict[str, list[Row]] = {}
        self._splits: dict[str, dict[str, np.ndarray]] = {}
        missing = target.given is None and "train" not in self._files
        if target.needs_labels and missing:
            raise ConfigError("without a training file, labels must be given")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        if self._target.given is not None or not self._target.needs_labels:
            return self._target.given or ()
        values = [row.target for row in self._rows("train")]
        labels = self._target.collect(values)
        for doubt in self._target.label_doubts(labels, values):
            self._note(f"{self._files['train']}: {doubt}")
        return labels

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have a file."""
        return tuple(self._files)

    def size(self, split: str) -> int:
        """Returns how many rows the split's file has."""
        return len(self._examples(split)[self._target.name])

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the rows of the split's file, in order."""
        return tf.data.Dataset.from_tensor_slices(self._examples(split))

    def _examples(self, split: str) -> dict[str, np.ndarray]:
        if split not in self._splits:
            path = look_up(split, self._files, "split")
            rows = self._rows(split)
            ids = {label: i for i, label in enumerate(self.labels)}
            values = [self._encoded(path, row, ids) for row in rows]
            # JSON can spell halves of surrogate pairs, which UTF-8 cannot.
            columns = zip(*(row.texts for row in rows))
            self._splits[split] = {
                name: np.array(
                    [t.encode("utf-8", "replace") for t in texts], object
                )
                for name, texts in zip(self._layouts[split].texts, columns)
            } | {self._target.name: np.array(values, self._target.dtype)}
            self._tables.pop(split)
        return self._splits[split]

    def _encoded(self, path: str, row: Row, ids: Mapping[str, int]):
        try:
            return self._target.encode(row.target, ids)
        except UnknownLabel as error:
            (label,) = error.args
            raise DataError(
                f"{path}:{row.line}: unknown label {label!r}; "
                f"{hint(label, ids)}"
            )

    def _rows(self, split: str) -> list[Row]:
        if split not in self._tables:
            path = self._files[split]
            table = read_table(path, self._layouts[split], self._target.parse)
            self._tables[split] = table.rows
            self._warn(path, table)
        return self._tables[split]

    def _warn(self, path: str, table: Table) -> None:
        rows = table.rows
        broken = [r.line for r in rows if any(map(_has_half_pair, r.texts))]
        empty = [r.line for r in rows if not all(t.strip() for t in r.texts)]
        counted = (
            (table.undecodable, "not UTF-8, read as Latin-1"),
            (table.skipped, "left out for their label (skip_labels)"),
            (broken, 'with half a surrogate pair, replaced by "?"'),
            (empty, "with an empty text"),
        )
        warnings = [
            f"{path}: {len(lines)} {'row' if len(lines) == 1 else 'rows'} "
            f"{what} (first: line {lines[0]})"
            for lines, what in counted
            if lines
        ]
        doubts = self._target.doubts([row.target for row in rows])
        for warning in [*warnings, *(f"{path}: {doubt}" for doubt in doubts)]:
            self._note(warning)

    def _note(self, warning: str) -> None:
        logging.warning("%s", warning)
        self.warnings.append(warning)


def _has_half_pair(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)
