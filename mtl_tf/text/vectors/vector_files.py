"""Reads a text file of word vectors row by row."""

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from mtl_tf.core.errors import DataError

_GZIP = b"\x1f\x8b"
# The first bytes of files that have to be unpacked, and what they are.
_PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xfd7zXZ\x00": "packed by xz",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
}
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
# The place of a tar archive's mark.
_TAR, _TAR_START = b"ustar", 257


class Row(NamedTuple):
    """A word and its numbers, as bytes; `line` counts from 1."""

    word: bytes
    numbers: bytes
    line: int


class VectorFile:
    """A file of rows `word number ... number`, plain or gzip, streamed.

    Args:
        path: the file.
        dimension: numbers per row.

    Attributes:
        row_count, skipped: rows and blank lines read so far.
        header_rows: the header's number of rows; None if there is no header.
    """

    def __init__(self, path: str, dimension: int):
        self.path = path
        self.dimension = dimension
        self.row_count = 0
        self.skipped = 0
        self.header_rows: int | None = None
        # Number of rows whose word ends in a number, such as "iphone 5".
        self._doubtful_count = 0
        self._first_doubtful: tuple[bytes, int] | None = None

    def check(self) -> None:
        """Reads the first row, which tells whether the file can be used.

        Raises:
            DataError: as of `rows`.
        """
        next(self.rows())

    def rows(self) -> Iterator[Row]:
        """Yields all rows; their numbers are counted, not parsed.

        Raises:
            DataError: the file cannot be read, or a row does not have
                `dimension` numbers. If only all rows together show this, it is
                raised after the last row.
        """
        for number, line in enumerate(self._lines(), start=1):
            line = line.rstrip(b" \r\n")
            if not line:
                self.skipped += 1
            elif number == 1 and self._is_header(line):
                self._check_header(line)
            else:
                self.row_count += 1
                yield self._row(line, number)
        if not self.row_count:
            raise DataError(f"{self.path} holds no word vectors")
        # No real file has only such words, so its rows must be longer.
        if self._doubtful_count == self.row_count > 1:
            raise self._dimension_error(*self._first_doubtful)

    def numbers(self, row: Row) -> np.ndarray:
        """Parses a row's numbers: float32 [dimension].

        Raises:
            DataError: one of them is not a finite number.
        """
        fields = row.numbers.split(b" ")
        try:
            numbers = np.array([float(field) for field in fields], np.float32)
        except ValueError:
            numbers = np.array([np.nan])
        # `float` also reads "1_000".
        if b"_" in row.numbers or not np.isfinite(numbers).all():
            wrong = next(field for field in fields if not _is_number(field))
            raise self._error(
                row.line,
                f"{_short(wrong)} is not a finite number, in the vector of "
                f"{_short(row.word)}",
            )
        return numbers

    def _row(self, line: bytes, number: int) -> Row:
        spaces = line.count(b" ")
        if spaces == self.dimension:
            word, _, numbers = line.partition(b" ")
            return Row(word, numbers, number)
        if spaces < self.dimension:
            raise self._dimension_error(line, number)
        word, *numbers = line.rsplit(b" ", self.dimension)
        # Either a word of several parts, or too many numbers.
        inner = word.split(b" ")[1:]
        if all(b"." in part and _is_number(part) for part in inner):
            raise self._dimension_error(line, number)
        if _is_number(inner[-1]):
            self._doubtful_count += 1
            self._first_doubtful = self._first_doubtful or (line, number)
        return Row(word, b" ".join(numbers), number)

    def _is_header(self, line: bytes) -> bool:
        fields = line.split()
        return len(fields) == 2 and all(field.isdigit() for field in fields)

    def _check_header(self, line: bytes) -> None:
        rows, dimension = map(int, line.split())
        if dimension != self.dimension:
            raise self._error(
                1,
                f"the header says {dimension} numbers a word, but "
                f"{self.dimension} are needed: set the embedding dimension to "
                f"{dimension} or take another file",
            )
        self.header_rows = rows

    def _dimension_error(self, line: bytes, number: int) -> DataError:
        if _looks_binary(line):
            return self._error(
                number,
                "this is not text: an archive has to be unpacked, and a binary "
                "word2vec or fastText model converted to the text format",
            )
        count = line.count(b" ")
        return self._error(
            number,
            f"{count} numbers after {_short(line.split(b' ')[0])}, but "
            f"{self.dimension} are needed: the file has another dimension or "
            "the line is damaged",
        )

    def _lines(self) -> Iterator[bytes]:
        number = 0
        try:
            with (
                open(self.path, "rb") as raw,
                _unpacked(raw, self.path) as file,
            ):
                for line in file:
                    yield line
                    number += 1
        except OSError as error:  # includes gzip.BadGzipFile
            if error.errno is None:
                raise self._error(number + 1, f"damaged gzip file: {error}")
            raise DataError(
                f"cannot read the word vectors {self.path}: "
                f"{os.strerror(error.errno)}"
            )
        except (EOFError, zlib.error) as error:
            raise self._error(number + 1, f"damaged gzip file: {error}")

    def _error(self, line: int, message: str) -> DataError:
        return DataError(f"{self.path}:{line}: {message}")


def _unpacked(raw: BinaryIO, path: str) -> BinaryIO:
    file = raw
    if raw.peek(2).startswith(_GZIP):
        file = gzip.GzipFile(fileobj=raw)
    head = file.peek(_TAR_START + len(_TAR))
    if kind := _packed(head):
        within = ", within gzip" if file is not raw else ""
        raise DataError(f"{path} is {kind}{within}: unpack it first")
    if head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    return file


def _packed(head: bytes) -> str:
    """What a file is, by its first bytes, if it has to be unpacked; or ""."""
    for magic, kind in _PACKED.items():
        if head.startswith(magic):
            return kind
    if _BZIP2.match(head):
        return "packed by bzip2"
    return "a tar archive" if head.startswith(_TAR, _TAR_START) else ""


def _is_number(field: bytes) -> bool:
    try:
        return b"_" not in field and bool(np.isfinite(np.float32(float(field))))
    except ValueError:
        return False


def _looks_binary(line: bytes) -> bool:
    return any(byte < 9 or 13 < byte < 27 for byte in line)


def _short(field: bytes) -> str:
    return repr(field[:40].decode("utf-8", "backslashreplace"))
