r"""Line-aligned files: line n of one translates line n of the other.

Lines end only at `\n`, as in all files of this project. Files of unequal length
are an error, since the misaligned line is unknown. A pair with an empty side
says nothing about translation; it is skipped and counted.
"""

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, Undecodable, count, decoded
from mtl_tf.datasets.sources import check_text, opened

TextPair = tuple[str, str]
#: The warning about files, or a column, named twice by mistake.
ONLY_COPIES = "in all pairs source and target are the same text"
_BREAKS = re.compile(r"[\r\n]+")


class AlignedLines(NamedTuple):
    """The pairs of two files.

    Attributes:
        pairs: source and target text, in the order of the lines.
        warnings: warnings with counts, a sentence each.
    """

    pairs: list[TextPair]
    warnings: list[str]


class Counted(NamedTuple):
    """The result of reading the files of a split.

    Attributes:
        pairs: the number of pairs.
        warnings: warnings with counts, a sentence each.
    """

    pairs: int
    warnings: list[str]


def one_line(text: str) -> str:
    """A text with its lines joined by spaces, without outer spaces."""
    return _BREAKS.sub(" ", text).strip()


def read_aligned(source: LineFile, target: LineFile) -> AlignedLines:
    """Reads the pairs of two files.

    Args:
        source, target: the files.

    Raises:
        DataError: they have different numbers of lines, or no pair.
    """
    skipped = _Skipped(source.path, target.path)
    pairs = list(skipped.leave_out(_stripped(source.lines, target.lines)))
    warnings = [*source.warnings, *target.warnings, *skipped.warnings()]
    return AlignedLines(pairs, warnings)


class AlignedFiles:
    """Two files that are read in turn, not held in memory.

    Args:
        source, target: their paths; compressed by gzip if a name ends in `.gz`.

    Attributes:
        paths: both paths.
    """

    def __init__(self, source: str, target: str):
        self.paths = source, target

    def pairs(self) -> Iterator[TextPair]:
        """Yields the pairs without an empty text."""
        skipped = _Skipped(*self.paths)
        return skipped.leave_out(_stripped(*map(_lines, self.paths)))

    def check(self) -> Counted:
        """Reads both to the end.

        Raises:
            DataError: a file is missing, unreadable, empty or in UTF-16, their
                numbers of lines differ, or there is no pair.
        """
        for path in self.paths:
            check_text(path)
        odd = [Undecodable() for _ in self.paths]
        lines = [
            _lines(path, undecodable.add)
            for path, undecodable in zip(self.paths, odd)
        ]
        skipped = _Skipped(*self.paths)
        pairs = copies = 0
        for source, target in skipped.leave_out(_stripped(*lines)):
            pairs += 1
            copies += source == target
        warnings = [
            f"{os.path.basename(path)}: {warning}"
            for path, undecodable in zip(self.paths, odd)
            for warning in undecodable.warnings()
        ]
        if pairs and copies == pairs:
            warnings.append(f"{' and '.join(self.paths)}: {ONLY_COPIES}")
        return Counted(pairs, [*warnings, *skipped.warnings()])


class _Skipped:
    """Leaves out pairs with an empty text, and counts them.

    Args:
        source, target: paths of the files, for messages.
    """

    def __init__(self, source: str, target: str):
        self._paths = source, target
        self._count = self._first = 0
        self._empty = [0, 0]

    def leave_out(
        self, pairs: Iterator[tuple[str | None, str | None]]
    ) -> Iterator[TextPair]:
        """Yields the other pairs.

        Args:
            pairs: the pairs of all lines; None after a file's end.

        Raises:
            DataError: the numbers of lines differ, a file has no text at all,
                or there is no pair.
        """
        lines, complete = [0, 0], 0
        for number, pair in enumerate(pairs, 1):
            for side, text in enumerate(pair):
                lines[side] += text is not None
                self._empty[side] += text == ""
            if None in pair:
                continue
            if all(pair):
                complete += 1
                yield pair
            else:
                self._count += 1
                self._first = self._first or number
        for path, has, empty in zip(self._paths, lines, self._empty):
            if has == empty:
                raise DataError(f"{path}: the file is empty")
        if lines[0] != lines[1]:
            source, target = self._paths
            raise DataError(
                f"{source} has {count(lines[0], 'line')}, but {target} has "
                f"{lines[1]:,}: they are not aligned; line n of one must be "
                "the translation of line n of the other"
            )
        if not complete:
            source, target = self._paths
            raise DataError(
                f"{source} and {target}: in no line both have a text"
            )

    def warnings(self) -> list[str]:
        """A warning about the skipped pairs, if there are any."""
        if not self._count:
            return []
        source, target = map(os.path.basename, self._paths)
        return [
            f"{source} and {target}: {count(self._count, 'pair')} with an "
            f"empty text skipped ({self._empty[0]:,} empty in the first file, "
            f"{self._empty[1]:,} in the second; first: line {self._first})"
        ]


def _stripped(
    source: Iterable[str], target: Iterable[str]
) -> Iterator[tuple[str | None, str | None]]:
    """The texts of both files; None after a file's end."""
    pairs = itertools.zip_longest(source, target)
    for number, pair in enumerate(pairs):
        if not number:
            pair = [line and line.removeprefix("\ufeff") for line in pair]
        yield tuple(line and line.strip() for line in pair)


def _lines(
    path: str,
    odd: Callable[[int, bytes], None] = lambda number, line: None,
) -> Iterator[str]:
    with opened(path) as file:
        yield from decoded(file, odd)
