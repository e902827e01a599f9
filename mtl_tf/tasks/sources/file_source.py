"""Texts with targets, from the user's own files."""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import surrogates
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.labels import odd_labels
from mtl_tf.tasks.reading.file_records import LINE, Place
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.reading.row_files import (
    IGNORED,
    MISSING,
    SKIP,
    OddLines,
    Row,
    check_files,
    rows_of,
)
from mtl_tf.tasks.source import UNLABELLED
from mtl_tf.tasks.sources.streamed_source import (
    LineTallies,
    StreamedSource,
    Tally,
    encoded,
)
from mtl_tf.tasks.text_targets import TextTarget, UnknownLabel

_SHOWN = 10  # unknown labels in a message


class TextFileSource(StreamedSource):
    """The rows of each split's files; several files are read as one.

    Odd rows are counted, and kept unless the entry leaves them out: lines that
    are not UTF-8 (read as Latin-1), empty texts, a file of one class, a
    different label for almost every other row, labels that hardly any row has.

    The split `unlabelled` has only texts; other columns are ignored.

    Args:
        files: the paths of each split's files.
        layouts: the layout of each split's files, with the columns of the
            texts, by feature, and last the target's.
        target: parses the targets.
        skip_missing: whether rows without a target are left out. Otherwise they
            are errors, unless the target accepts them.

    Raises:
        ConfigError: there are no label names and no training split.
    """

    def __init__(
        self,
        files: Mapping[str, Sequence[str]],
        layouts: Mapping[str, Layout],
        target: TextTarget,
        skip_missing: bool = False,
    ):
        super().__init__(files)
        self._layouts = dict(layouts)
        self._target = target
        self._skip_missing = skip_missing
        self._scans: dict[str, _Scan] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        missing = target.given_labels is None and "train" not in self._files
        if target.needs_labels and missing:
            raise ConfigError(
                "it has no train split to take its labels from, but "
                f"{', '.join(self._files)}: name them in `labels`, or call one "
                "of the splits train"
            )

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        if (
            self._target.given_labels is not None
            or not self._target.needs_labels
        ):
            return self._target.given_labels or ()
        scan = self._scanned("train")
        labels = self._target.collect(scan.values)
        if not labels:
            raise DataError(
                f"{self.named('train')}: no row has a label: there is nothing "
                "to learn"
            )
        doubts = self._target.label_doubts(labels, scan.values)
        if not doubts:
            doubts = [*odd_labels.doubts(labels), *self._rare(scan)]
        for doubt in doubts:
            self.note(f"{self.named('train')}: {doubt}")
        return labels

    def _advice(self, label: str, scan: "_Scan") -> str:
        """The advice on unknown labels of a split."""
        known = hint(label, self._ids())
        sentences = [known if known.endswith("?") else f"{known}."]
        labels = self._target.collect(list(scan.places))
        others = sorted(set(labels) - set(self.labels) - {label})
        if others:
            more = len(others) - _SHOWN
            sentences.append(
                f"Unknown are also {', '.join(map(repr, others[:_SHOWN]))}"
                f"{f' and {more} more' if more > 0 else ''}."
            )
        if self._target.given_labels is None:
            sentences.append(
                "Labels are those of the training rows, unless `labels` in the "
                "task's entry lists all of them"
            )
        return " ".join(sentences).rstrip(".")

    def _rare(self, scan: "_Scan") -> list[str]:
        """The warning about labels that hardly any row has."""
        counts: Counter[str] = Counter()
        places: dict[str, str] = {}
        is_one = len(self._files["train"]) == 1
        for value, count in Counter(scan.values).items():
            first = scan.places[value]
            place = first.within if is_one else str(first)
            for label in self._target.collect([value]):
                counts[label] += count
                places.setdefault(label, place)
        return odd_labels.rare(counts, places, len(scan.values))

    def check(self, split: str) -> int:
        """Reads the split's files to the end, and counts their rows."""
        scan = self._scanned(split)
        if split == UNLABELLED:
            self._scans.pop(split)
            return len(scan.values)
        try:
            for value in scan.places or scan.values[:1]:
                target = self._target.encode(value, self._ids())
        except UnknownLabel as error:
            (label,) = error.args
            raise DataError(
                f"{scan.places[value]}: unknown label {label!r}; "
                f"{self._advice(label, scan)}"
            )
        self._shapes[split] = np.shape(target)
        self._scans.pop(split)
        return len(scan.values)

    def examples(self, split: str) -> Iterator[Row]:
        """Yields the rows of the split's files."""
        for path in self._files[split]:
            rows = self._rows(split, path)
            yield from (row for row in rows if not _is_left_out(row))

    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """The types of the texts and the encoded targets."""
        text_spec = tf.TensorSpec([None], tf.string)
        specs = dict.fromkeys(self._layouts[split].texts, text_spec)
        if split != UNLABELLED:
            specs[self._target.name] = tf.TensorSpec(
                [None, *self._shapes[split]], tf.as_dtype(self._target.dtype)
            )
        return specs

    def batch(self, split: str, examples: Sequence[Row]) -> dict[str, Any]:
        """Texts in UTF-8, and encoded targets."""
        ids, names = self._ids(), self._layouts[split].texts
        columns = {
            name: np.array(list(map(encoded, texts)), object)
            for name, texts in zip(names, zip(*(row.texts for row in examples)))
        }
        if split != UNLABELLED:
            values = [self._target.encode(row.target, ids) for row in examples]
            columns[self._target.name] = np.array(values, self._target.dtype)
        return columns

    def _ids(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def _rows(
        self,
        split: str,
        path: str,
        odd: OddLines = IGNORED,
    ) -> Iterator[Row]:
        layout, parse = self._layouts[split], self._parsed
        if split == UNLABELLED:
            parse = _no_target
        return rows_of(path, layout, parse, odd)

    def _parsed(self, value: Any, column: str) -> Any:
        """A parsed target; `MISSING` if it is missing and may be."""
        if not self._target.is_missing(value):
            return self._target.parse(value, column)
        if self._skip_missing:
            return MISSING
        try:
            return self._target.parse(value, column)
        except ValueError as error:
            raise ValueError(
                f"{error}; `skip_missing=True` in the task's entry leaves such "
                "rows out"
            )

    def _scanned(self, split: str) -> "_Scan":
        if split not in self._scans:
            check_files(self._files[split], self._layouts[split])
            self.remember(split)
            scan = _Scan(self._target.needs_labels)
            for path in self._files[split]:
                self._scan(split, path, scan)
            doubts: list[str] = []
            if split != UNLABELLED:
                doubts = self._target.doubts(scan.values)
            for doubt in doubts:
                self.note(f"{self.named(split)}: {doubt}")
            self._scans[split] = scan
        return self._scans[split]

    def _scan(self, split: str, path: str, scan: "_Scan") -> None:
        """Adds the rows of a file, and warns about odd ones."""
        oddities, before = _Oddities(), len(scan.values)
        for row in self._rows(split, path, oddities.lines.odd):
            oddities.add(row)
            if not _is_left_out(row):
                scan.add(row)
        warnings = oddities.sentences()
        if len(scan.values) == before:
            reasons = "".join(f" ({warning})" for warning in warnings)
            raise DataError(
                f"{path} is empty: it has no rows of text and label{reasons}"
            )
        for warning in warnings:
            self.note(f"{path}: {warning}")


def _is_left_out(row: Row) -> bool:
    return row.target is SKIP or row.target is MISSING


def _no_target(value: Any, column: str) -> None:
    """Replaces a target's `parse` where no target is read."""
    del value, column


class _Scan:
    """The targets of a split's rows.

    Args:
        has_labels: whether the targets are labels, of which there are few.

    Attributes:
        values: the targets of all rows; equal labels share one object.
        places: for labels, where each value occurs first, in that order.
    """

    def __init__(self, has_labels: bool):
        self._has_labels = has_labels
        self.values: list[Any] = []
        self.places: dict[Any, Place] = {}
        self._same: dict[Any, Any] = {}

    def add(self, row: Row) -> None:
        """Adds a row of a file."""
        value = row.target
        if self._has_labels:
            value = self._same.setdefault(value, value)
            self.places.setdefault(value, row.place)
        self.values.append(value)


class _Oddities:
    """Counts the odd rows of a file.

    Attributes:
        lines: counts lines that are odd before they are parsed.
    """

    def __init__(self):
        self._unit = LINE
        self.lines = LineTallies()
        self._skipped, self._missing = Tally(), Tally()
        self._broken, self._empty = Tally(), Tally()

    def add(self, row: Row) -> None:
        """Adds a row."""
        number, self._unit = row.place.number, row.place.unit
        if row.target is SKIP:
            self._skipped.add(number)
            return
        if row.target is MISSING:
            self._missing.add(number)
            return
        if any(map(surrogates.first_half, row.texts)):
            self._broken.add(number)
        if not all(text.strip() for text in row.texts):
            self._empty.add(number)

    def sentences(self) -> list[str]:
        """The warnings, a sentence each."""
        counted = (
            *self.lines.oddities(),
            (self._skipped, "left out by skip_labels"),
            (self._missing, "without a target, left out by skip_missing"),
            (self._broken, 'with half a surrogate pair, replaced by "?"'),
            (self._empty, "with an empty text"),
        )
        return [
            f"{tally.count} {'row' if tally.count == 1 else 'rows'} {oddity} "
            f"(first: {self._unit} {tally.first})"
            for tally, oddity in counted
            if tally.count
        ]
