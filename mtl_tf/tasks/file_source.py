"""Texts with targets, from the user's own files."""

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint, look_up
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks.row_files import SKIP, Layout, Row, rows_of
from mtl_tf.tasks.source import UNLABELLED, Source
from mtl_tf.tasks.text_targets import TextTarget, UnknownLabel

_ROWS_AT_ONCE = 1024


class TextFileSource(Source):
    """One file a split. A file is checked when its split is asked for first.

    It is read to its end then, and again by every dataset that is gone
    through: texts are never in memory all at once.

    What is odd keeps its row, is counted, logged once and kept in `warnings`:
    lines that are not UTF-8 (read as Latin-1), empty texts, a file of one
    class, a label for more than every other row.

    The split `unlabelled` has texts alone, whatever its rows hold beside.

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
        self._scans: dict[str, _Scan] = {}
        self._specs: dict[str, tuple[int, tf.TensorSpec | None]] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        missing = target.given is None and "train" not in self._files
        if target.needs_labels and missing:
            raise ConfigError("without a training file, labels must be given")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        if self._target.given is not None or not self._target.needs_labels:
            return self._target.given or ()
        values = self._scanned("train").values
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
        return self._checked(split)[0]

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the rows of the split's file, in order."""
        size, spec = self._checked(split)
        texts = tf.TensorSpec([None], tf.string)
        signature = dict.fromkeys(self._layouts[split].texts, texts)
        if spec is not None:
            signature[self._target.name] = tf.TensorSpec(
                [None, *spec.shape], spec.dtype
            )
        examples = tf.data.Dataset.from_generator(
            lambda: self._batches(split), output_signature=signature
        ).unbatch()
        return examples.apply(tf.data.experimental.assert_cardinality(size))

    def _batches(self, split: str) -> Iterator[dict[str, np.ndarray]]:
        """The examples of a split, some after others."""
        ids = {label: i for i, label in enumerate(self.labels)}
        names = self._layouts[split].texts
        rows = (row for row in self._rows(split) if row.target is not SKIP)
        while some := list(itertools.islice(rows, _ROWS_AT_ONCE)):
            # JSON can spell halves of surrogate pairs, which UTF-8 cannot.
            batch = {
                name: np.array(
                    [t.encode("utf-8", "replace") for t in texts], object
                )
                for name, texts in zip(names, zip(*(r.texts for r in some)))
            }
            if split != UNLABELLED:
                values = [self._target.encode(row.target, ids) for row in some]
                batch[self._target.name] = np.array(values, self._target.dtype)
            yield batch

    def _rows(
        self, split: str, odd: Callable[[int], None] = lambda line: None
    ) -> Iterator[Row]:
        layout, parse = self._layouts[split], self._target.parse
        if split == UNLABELLED:
            parse = _no_target
        return rows_of(self._files[split], layout, parse, odd)

    def _checked(self, split: str) -> tuple[int, tf.TensorSpec | None]:
        """How many rows a split has, and what one of their targets is."""
        path = look_up(split, self._files, "split")
        if split == UNLABELLED and split not in self._specs:
            self._specs[split] = len(self._scanned(split).values), None
            self._scans.pop(split)
        if split not in self._specs:
            scan = self._scanned(split)
            ids = {label: i for i, label in enumerate(self.labels)}
            try:
                for value in scan.lines or scan.values[:1]:
                    encoded = self._target.encode(value, ids)
            except UnknownLabel as error:
                (label,) = error.args
                raise DataError(
                    f"{path}:{scan.lines[value]}: unknown label {label!r}; "
                    f"{hint(label, ids)}"
                )
            shape = np.shape(encoded)
            spec = tf.TensorSpec(shape, tf.as_dtype(self._target.dtype))
            self._specs[split] = len(scan.values), spec
            self._scans.pop(split)
        if _stamp(path) != self._stamps[split]:
            raise DataError(
                f"{path} has changed since it was first read: start again"
            )
        return self._specs[split]

    def _scanned(self, split: str) -> "_Scan":
        if split not in self._scans:
            path = self._files[split]
            check_text(path)
            self._stamps[split] = _stamp(path)
            scan = _Scan(self._target.needs_labels)
            for row in self._rows(split, scan.undecodable.add):
                scan.add(row)
            if not scan.values:
                raise DataError(
                    f"{path} is empty: it has no rows of text and label"
                )
            doubts: list[str] = []
            if split != UNLABELLED:
                doubts = self._target.doubts(scan.values)
            for warning in (*scan.warnings(), *doubts):
                self._note(f"{path}: {warning}")
            self._scans[split] = scan
        return self._scans[split]

    def _note(self, warning: str) -> None:
        logging.warning("%s", warning)
        self.warnings.append(warning)


def _no_target(value: Any, column: str) -> None:
    """In place of a target's `parse`."""
    del value, column


def _stamp(path: str) -> tuple[int, int]:
    """What changes with a file: its size and when it was written."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}")
    return found.st_size, found.st_mtime_ns


class _Tally:
    """How many lines of a kind a file has, and which is the first."""

    def __init__(self):
        self.count = self.first = 0

    def add(self, line: int) -> None:
        """Counts a line."""
        self.count += 1
        self.first = self.first or line


class _Scan:
    """What going through the rows of a file has shown.

    Args:
        has_labels: whether targets are labels, of which there are few.

    Attributes:
        values: the targets of all rows; equal labels are one object.
        lines: where each value stands first, in that order, if they are
            labels.
        undecodable: the lines that are not UTF-8.
    """

    def __init__(self, has_labels: bool):
        self._has_labels = has_labels
        self.values: list[Any] = []
        self.lines: dict[Any, int] = {}
        self._same: dict[Any, Any] = {}
        self.undecodable, self._skipped = _Tally(), _Tally()
        self._broken, self._empty = _Tally(), _Tally()

    def add(self, row: Row) -> None:
        """Takes a row."""
        if row.target is SKIP:
            self._skipped.add(row.line)
            return
        if any(map(_has_half_pair, row.texts)):
            self._broken.add(row.line)
        if not all(text.strip() for text in row.texts):
            self._empty.add(row.line)
        value = row.target
        if self._has_labels:
            value = self._same.setdefault(value, value)
            self.lines.setdefault(value, row.line)
        self.values.append(value)

    def warnings(self) -> list[str]:
        """What is odd, a sentence each."""
        counted = (
            (self.undecodable, "not UTF-8, read as Latin-1"),
            (self._skipped, "left out for their label (skip_labels)"),
            (self._broken, 'with half a surrogate pair, replaced by "?"'),
            (self._empty, "with an empty text"),
        )
        return [
            f"{tally.count} {'row' if tally.count == 1 else 'rows'} {what} "
            f"(first: line {tally.first})"
            for tally, what in counted
            if tally.count
        ]


def _has_half_pair(text: str) -> bool:
    # Of most texts a look at their kind is enough.
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)
