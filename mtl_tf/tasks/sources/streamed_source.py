"""Sources that read large files in every pass, to save memory."""

import abc
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import DataError
from mtl_tf.core.names import look_up
from mtl_tf.datasets.lines import count
from mtl_tf.tasks.reading import given_rows
from mtl_tf.tasks.reading.row_files import OddLines
from mtl_tf.tasks.source import Source, tell

_AT_ONCE = 1024
# Splits up to this size stay in memory, as a training makes many passes.
_MOST_KEPT, _MOST_KEPT_BYTES = 100_000, 2**25
# Text packed by gzip is seldom smaller than a tenth.
_UNPACKED = 10


class StreamedSource(Source):
    """Files of each split, which are checked when the split is first used.

    The check reads them to the end, and so does every pass through a large
    split, of which only some thousand examples are in memory at once. Up to
    100,000 examples from at most 32 MB are kept. Warnings are logged once and
    kept in `warnings`.

    Args:
        files: the paths of each split's files.
    """

    def __init__(self, files: Mapping[str, Sequence[str]]):
        super().__init__()
        self._files = {split: tuple(paths) for split, paths in files.items()}
        self._sizes: dict[str, int] = {}
        self._stamps: dict[str, list[tuple[int, int]]] = {}
        self._kept: dict[str, tf.data.Dataset] = {}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have files."""
        return tuple(self._files)

    def size(self, split: str) -> int:
        """The number of examples in the split's files."""
        paths = look_up(split, self._files, "split")
        if split not in self._sizes:
            self.remember(split)
            self._sizes[split] = self.check(split)
        for path, before in zip(paths, self._stamps[split]):
            if _stamp(path) != before:
                raise DataError(
                    f"{path} has changed since it was first read: start again"
                )
        return self._sizes[split]

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of the split's files, in order."""
        size = self.size(split)
        if size and self._is_small(split):
            if split not in self._kept:
                whole = self.batch(split, list(self.examples(split)))
                self._kept[split] = self._in_memory(split, whole)
            return self._kept[split]
        examples = tf.data.Dataset.from_generator(
            lambda: self._batches(split),
            output_signature=self.signature(split),
        ).unbatch()
        return examples.apply(tf.data.experimental.assert_cardinality(size))

    @abc.abstractmethod
    def check(self, split: str) -> int:
        """Reads a split to the end, warns about odd rows, counts examples.

        Raises:
            DataError: the data are wrong; the message says where.
        """

    @abc.abstractmethod
    def examples(self, split: str) -> Iterator[Any]:
        """Yields the examples of a split while its files are read."""

    @abc.abstractmethod
    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """The types of `batch`'s results, for any number of examples."""

    @abc.abstractmethod
    def batch(self, split: str, examples: Sequence[Any]) -> dict[str, Any]:
        """Returns the features of some examples, one row each."""

    def remember(self, split: str) -> None:
        """Records the state of a split's files before they are first read."""
        paths = self._files[split]
        self._stamps.setdefault(split, [_stamp(path) for path in paths])

    def named(self, split: str) -> str:
        """The name of all files of a split in messages."""
        first, *others = self._files[split]
        if not others:
            return first
        return f"{first} and {count(len(others), 'more file')}"

    def note(self, warning: str) -> None:
        """Logs and keeps a warning."""
        paths = itertools.chain(*self._files.values())
        warning = given_rows.named(warning, paths)
        tell(warning)
        self.warnings.append(warning)

    def _is_small(self, split: str) -> bool:
        total = sum(
            size * (_UNPACKED if path.endswith(".gz") else 1)
            for path, (size, _) in zip(self._files[split], self._stamps[split])
        )
        return self._sizes[split] <= _MOST_KEPT and total <= _MOST_KEPT_BYTES

    def _in_memory(
        self, split: str, columns: Mapping[str, Any]
    ) -> tf.data.Dataset:
        """A dataset from one batch; tracing a generator takes far longer."""
        return tf.data.Dataset.from_tensor_slices(
            {
                name: columns[name]
                if tf.is_tensor(columns[name])
                else tf.constant(columns[name], spec.dtype)
                for name, spec in self.signature(split).items()
            }
        )

    def _batches(self, split: str) -> Iterator[dict[str, Any]]:
        examples = iter(self.examples(split))
        while chunk := list(itertools.islice(examples, _AT_ONCE)):
            yield self.batch(split, chunk)


class Tally:
    """Counts lines of one kind, and remembers the first."""

    def __init__(self):
        self.count = self.first = 0

    def add(self, line: int) -> None:
        """Counts a line."""
        self.count += 1
        self.first = self.first or line


class LineTallies:
    """Counts the odd lines of a file.

    Attributes:
        odd: is called with their numbers.
    """

    def __init__(self):
        self._undecodable, self._malformed = Tally(), Tally()
        self._short = Tally()
        self.odd = OddLines(
            self._undecodable.add, self._malformed.add, self._short.add
        )

    def oddities(self) -> list[tuple[Tally, str]]:
        """The count of each kind, and a description of it."""
        return [
            (self._undecodable, "not UTF-8, read as Latin-1"),
            (
                self._malformed,
                "with another number of columns than the first row, left out "
                "by skip_malformed",
            ),
            (
                self._short,
                "with fewer columns than the header, but with all that are "
                "read",
            ),
        ]


def encoded(text: str) -> bytes:
    """A text in UTF-8.

    JSON can contain halves of surrogate pairs, which UTF-8 lacks; they become
    question marks.
    """
    return text.encode("utf-8", "replace")


def _stamp(path: str) -> tuple[int, int]:
    """A file's size and modification time, which show that it has changed."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}")
    return status.st_size, status.st_mtime_ns
