"""Pairs of texts in two languages, from files and from TFDS datasets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.parallel_lines import (
    ONLY_COPIES,
    Counted,
    TextPair,
    one_line,
)
from mtl_tf.tasks.prepared import FeatureRequest, PreparedDataset
from mtl_tf.tasks.reading.file_records import LINE, Place
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.reading.row_files import (
    IGNORED,
    OddLines,
    check_files,
    rows_of,
)
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.sources.streamed_source import (
    LineTallies,
    StreamedSource,
    Tally,
    encoded,
)

_SIDES = ("source", "target")


class Pairs(Protocol):
    """Pairs of texts in files that are read in turn, not held in memory.

    Attributes:
        paths: the files.
    """

    paths: tuple[str, ...]

    def pairs(self) -> Iterator[TextPair]:
        """Yields the pairs without an empty text."""

    def check(self) -> Counted:
        """Reads the files to the end; raises `DataError`."""


class PairTables:
    """Tables with a column for each language.

    Line breaks in a text become spaces, as a translation is one line.

    Args:
        paths: the files, compressed by gzip if their names end in `.gz`.
        layout: their layout, with the columns `source` and `target`.
    """

    def __init__(self, paths: Sequence[str], layout: Layout):
        self.paths = tuple(paths)
        self._layout = layout

    def pairs(self) -> Iterator[TextPair]:
        """Yields the pairs without an empty text."""
        for path in self.paths:
            yield from (pair for _, pair in self._rows(path) if all(pair))

    def check(self) -> Counted:
        """Reads the tables to the end.

        Raises:
            DataError: a file is missing, unreadable or in UTF-16, headers
                differ, a row is wrong, or every row has an empty text.
        """
        check_files(self.paths, self._layout)
        counted = list(map(self._check, self.paths))
        return Counted(
            sum(table.pairs for table in counted),
            [warning for table in counted for warning in table.warnings],
        )

    def _check(self, path: str) -> Counted:
        lines, skipped = LineTallies(), Tally()
        pairs = copies = 0
        unit = LINE
        for place, pair in self._rows(path, lines.odd):
            unit = place.unit
            if all(pair):
                pairs += 1
                copies += pair[0] == pair[1]
            else:
                skipped.add(place.number)
        warnings = [
            f"{tally.count} {'row' if tally.count == 1 else 'rows'} "
            f"{oddity} (first: {unit} {tally.first})"
            for tally, oddity in (
                *lines.oddities(),
                (skipped, "with an empty text skipped"),
            )
            if tally.count
        ]
        if not pairs and not skipped.count:
            reasons = "".join(f" ({warning})" for warning in warnings)
            raise DataError(f"{path} is empty: it has no rows{reasons}")
        if not pairs:
            raise DataError(f"{path}: in no row both have a text")
        if copies == pairs:
            warnings.append(ONLY_COPIES)
        return Counted(pairs, [f"{path}: {warning}" for warning in warnings])

    def _rows(
        self, path: str, odd: OddLines = IGNORED
    ) -> Iterator[tuple[Place, TextPair]]:
        for row in rows_of(path, self._layout, _text, odd):
            texts = (*row.texts, row.target)
            yield row.place, tuple(map(one_line, texts))


def _text(value: Any, column: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{column!r} must be a string, found {value!r:.40}")
    return value


class ParallelFileSource(StreamedSource):
    """Two line-aligned files for each split, or tables of both languages.

    It counts lines that are not UTF-8 (read as Latin-1), and pairs with an
    empty text, which are skipped.

    Args:
        files: the pairs of each split.
    """

    labels = ()

    def __init__(self, files: Mapping[str, Pairs]):
        super().__init__({split: pairs.paths for split, pairs in files.items()})
        self._pairs = dict(files)

    def check(self, split: str) -> int:
        """Reads the split's files to the end, and counts their pairs."""
        report = self._pairs[split].check()
        for warning in report.warnings:
            self.note(warning)
        return report.pairs

    def examples(self, split: str) -> Iterator[TextPair]:
        """Yields the pairs of the split's files."""
        return self._pairs[split].pairs()

    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """The types of the texts in both languages."""
        return dict.fromkeys(_SIDES, tf.TensorSpec([None], tf.string))

    def batch(self, split: str, examples: Sequence[TextPair]) -> dict[str, Any]:
        """The texts in UTF-8."""
        return {
            name: np.array(list(map(encoded, texts)), object)
            for name, texts in zip(_SIDES, zip(*examples))
        }


class ParallelDatasetSource(Source):
    """A TFDS dataset with two texts, prepared on first use.

    Args:
        name: the dataset's name, with its config: "multi30k/en-de",
            "wmt14_translate/de-en".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        source, target: the names of the two text features.
    """

    labels = ()

    def __init__(
        self,
        name: str,
        data_dir: str = "",
        manual_dir: str = "",
        source: str = "source",
        target: str = "target",
    ):
        super().__init__()
        requests = (
            FeatureRequest("source", source, (tf.string,), 0, "a text"),
            FeatureRequest("target", target, (tf.string,), 0, "a text"),
        )
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, requests, self.warnings
        )
        self._columns = {"source": source, "target": target}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns how many pairs a split or a slice of one has."""
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the pairs of a split or of a slice of one, in order."""
        columns = self._columns
        return self._dataset.examples(split).map(
            lambda example: {key: example[columns[key]] for key in columns}
        )
