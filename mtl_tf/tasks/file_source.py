"""Texts with targets, from the user's own files."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks import rare_labels
from mtl_tf.tasks.row_files import SKIP, Layout, Row, rows_of
from mtl_tf.tasks.source import UNLABELLED
from mtl_tf.tasks.streamed_source import StreamedSource, Tally, encoded
from mtl_tf.tasks.text_targets import TextTarget, UnknownLabel


class TextFileSource(StreamedSource):
    """One file a split.

    What is odd keeps its row and is counted: lines that are not UTF-8 (read
    as Latin-1), empty texts, a file of one class, a label for more than every
    other row, labels that hardly any row has.

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
        super().__init__({split: (path,) for split, path in files.items()})
        self._layouts = dict(layouts)
        self._target = target
        self._scans: dict[str, _Scan] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        missing = target.given_labels is None and "train" not in self._files
        if target.needs_labels and missing:
            raise ConfigError("without a training file, labels must be given")

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
        doubts = self._target.label_doubts(labels, scan.values)
        if not doubts and (rare := self._rare(scan)):
            doubts = [rare]
        for doubt in doubts:
            self.note(f"{self._path('train')}: {doubt}")
        return labels

    def _rare(self, scan: "_Scan") -> str:
        """What is to be said of labels that hardly any row has."""
        counts: Counter[str] = Counter()
        lines: dict[str, int] = {}
        for value, count in Counter(scan.values).items():
            for label in self._target.collect([value]):
                counts[label] += count
                lines.setdefault(label, scan.lines[value])
        return rare_labels.doubt(counts, lines, len(scan.values))

    def check(self, split: str) -> int:
        """Reads the split's file to its end, and counts its rows."""
        scan = self._scanned(split)
        if split == UNLABELLED:
            self._scans.pop(split)
            return len(scan.values)
        try:
            for value in scan.lines or scan.values[:1]:
                target = self._target.encode(value, self._ids())
        except UnknownLabel as error:
            (label,) = error.args
            raise DataError(
                f"{self._path(split)}:{scan.lines[value]}: unknown label "
                f"{label!r}; {hint(label, self._ids())}"
            )
        self._shapes[split] = np.shape(target)
        self._scans.pop(split)
        return len(scan.values)

    def examples(self, split: str) -> Iterator[Row]:
        """Yields the rows of the split's file."""
        rows = self._rows(split)
        return (row for row in rows if row.target is not SKIP)

    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """The texts, and the target's numbers."""
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

    def _path(self, split: str) -> str:
        (path,) = self._files[split]
        return path

    def _rows(
        self, split: str, odd: Callable[[int], None] = lambda line: None
    ) -> Iterator[Row]:
        layout, parse = self._layouts[split], self._target.parse
        if split == UNLABELLED:
            parse = _no_target
        return rows_of(self._path(split), layout, parse, odd)

    def _scanned(self, split: str) -> "_Scan":
        if split not in self._scans:
            path = self._path(split)
            check_text(path)
            self.remember(split)
            scan = _Scan(self._target.needs_labels)
            for row in self._rows(split, scan.undecodable.add):
                scan.add(row)
            if not scan.values:
                why = "".join(f" ({warning})" for warning in scan.warnings())
                raise DataError(
                    f"{path} is empty: it has no rows of text and label{why}"
                )
            doubts: list[str] = []
            if split != UNLABELLED:
                doubts = self._target.doubts(scan.values)
            for warning in (*scan.warnings(), *doubts):
                self.note(f"{path}: {warning}")
            self._scans[split] = scan
        return self._scans[split]


def _no_target(value: Any, column: str) -> None:
    """In place of a target's `parse`."""
    del value, column


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
        self.undecodable, self._skipped = Tally(), Tally()
        self._broken, self._empty = Tally(), Tally()

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
            (self._skipped, "left out by skip_labels"),
            (self._broken, 'with half a surrogate pair, replaced by "?"'),
            (self._empty, "with an empty text"),
        )
        return [
            f"{tally.count} {'row' if tally.count == 1 else 'rows'} {oddity} "
            f"(first: line {tally.first})"
            for tally, oddity in counted
            if tally.count
        ]


def _has_half_pair(text: str) -> bool:
    # Of most texts a look at their kind is enough.
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)
