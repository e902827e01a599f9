r"""Reads the line files of released corpora.

Bytes are split on `\n` only: `str.splitlines` would also split at U+0085 and
other characters that occur in reviews. A line that is not UTF-8 is read as
Latin-1, which maps every byte. Such lines and empty texts are kept, counted and
reported. Lines that cannot be parsed are errors that name `file:line`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.sources import read_file, unpack

LabelledText = tuple[str, int]
Numbered = tuple[int, str]  # a line and its number, from 1


class LineFile:
    r"""One file: its lines, and the warnings from reading it.

    Args:
        path: the file, compressed by gzip if its name ends in `.gz`. Its last
            line may lack the final `\n`; a `\r` before it is dropped.

    Attributes:
        name: the file name without the folder.
        content: the bytes of the file, perhaps compressed.
        warnings: warnings with counts, each a sentence that begins with `name`.

    Raises:
        DataError: the file is missing, unreadable, empty or in UTF-16.
    """

    def __init__(self, path: str):
        self.path = path
        self.name = os.path.basename(path)
        self.content = read_file(path)
        self.warnings: list[str] = []
        self._lines = self._decode()

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def lines(self) -> list[str]:
        """The decoded lines, including empty ones."""
        return self._lines

    def texts(self) -> list[str]:
        """The lines of a file without labels."""
        self.report_empty(self._lines)
        return self._lines

    def labelled(self, labels: Mapping[str, int]) -> list[LabelledText]:
        """The rows of a file of `label TAB text` lines.

        Args:
            labels: label in the file to class id.

        Raises:
            DataError: a line without a tab or with an unknown label.
        """
        rows = [
            self._row(number, line, labels)
            for number, line in enumerate(self._lines, 1)
        ]
        self.report_empty([text for text, _ in rows])
        return rows

    def blocks(self) -> Iterator[list[Numbered]]:
        """Groups of lines, separated by blank lines."""
        block: list[Numbered] = []
        for number, line in enumerate([*self._lines, ""], 1):
            if line.strip():
                block.append((number, line))
            elif block:
                yield block
                block = []

    def report_one_class(
        self, rows: Sequence[LabelledText], names: Sequence[str], part: str = ""
    ) -> None:
        """Warns if all `rows` have one class.

        Args:
            rows: rows of this file.
            names: the class names.
            part: the part of the file with these rows, for the message.
        """
        classes = {label for _, label in rows}
        if len(classes) == 1:
            self.warn(
                f"all {len(rows):,} texts{part} are of one class, "
                f"{names[classes.pop()]}"
            )

    def report_count(self, expected: int) -> None:
        """Warns if the number of lines is not the known one."""
        if len(self) != expected:
            self.warn(
                f"{len(self):,} lines; the released file has {expected:,}"
            )

    def report_empty(self, texts: Sequence[str]) -> None:
        """Warns of empty texts in this file, which are kept."""
        empty = [n for n, text in enumerate(texts, 1) if not text.strip()]
        if empty:
            self.warn(
                f"{count(len(empty), 'empty text')}, kept (first: line "
                f"{empty[0]})"
            )

    def warn(self, message: str) -> None:
        """Adds a warning about this file."""
        self.warnings.append(f"{self.name}: {message}")

    def _decode(self) -> list[str]:
        content = unpack(self.path, self.content).removeprefix(b"\xef\xbb\xbf")
        if not content.strip():
            raise DataError(f"{self.path}: the file is empty")
        raw = content.split(b"\n")
        if not raw[-1]:
            raw.pop()
        undecodable = Undecodable()
        lines = list(decoded(raw, undecodable.add))
        for warning in undecodable.warnings():
            self.warn(warning)
        return lines

    def _row(
        self, number: int, line: str, labels: Mapping[str, int]
    ) -> LabelledText:
        label, tab, text = line.partition("\t")
        names = " or ".join(repr(name) for name in labels)
        if not tab:
            raise DataError(
                f"{self.path}:{number}: no tab in the line {short(line)}; it "
                f"must be a label ({names}), a tab and the text"
            )
        if label not in labels:
            raise DataError(
                f"{self.path}:{number}: unknown label {short(label)}; it must "
                f"be {names}"
            )
        return text, labels[label]


class Undecodable:
    """Counts the lines of a file that are not UTF-8."""

    def __init__(self):
        self._lines = self._characters = self._first = 0

    def add(self, number: int, line: bytes) -> None:
        """Counts a line; every byte became a character."""
        self._lines += 1
        self._characters += sum(byte > 127 for byte in line)
        self._first = self._first or number

    def warnings(self) -> list[str]:
        """A warning about these lines, if there are any."""
        if not self._lines:
            return []
        return [
            f"{count(self._lines, 'line')} not UTF-8, read as Latin-1 "
            f"({count(self._characters, 'character')}; first: line "
            f"{self._first})"
        ]


def decoded(
    lines: Iterable[bytes],
    odd: Callable[[int, bytes], None] = lambda number, line: None,
) -> Iterator[str]:
    r"""Yields lines as text, without `\n` and a `\r` before it.

    Args:
        lines: the lines as in a file.
        odd: called with number, from 1, and bytes of each line that is not
            UTF-8.
    """
    for number, line in enumerate(lines, 1):
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            yield line.decode("latin-1")
            odd(number, line)


class Oddities:
    """Counts odd places of a file, for its warnings.

    Args:
        file: the file that the warnings are about.
        place: the kind of place, such as "line"; "" if places name it.
    """

    def __init__(self, file: LineFile, place: str = "line"):
        self._file = file
        self._place = place
        self._places_of: dict[tuple[str, str], list[int | str]] = {}

    def add(self, noun: str, oddity: str, place: int | str) -> None:
        """Counts one place.

        Args:
            noun: what is odd, in the singular, such as "question".
            oddity: how it is odd, and how it was treated.
            place: its place.
        """
        self._places_of.setdefault((noun, oddity), []).append(place)

    def report(self) -> None:
        """Adds a warning to the file for each kind of oddity."""
        for (noun, oddity), places in self._places_of.items():
            first = f"{self._place} {places[0]}".strip()
            self._file.warn(
                f"{count(len(places), noun)} {oddity} (first: {first})"
            )


def count(number: int, noun: str) -> str:
    """A number and a noun, with plural `s` if needed, for messages."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def short(text: str, length: int = 40) -> str:
    """The text in quotes, cut at `length`, for messages."""
    return repr(text if len(text) <= length else text[:length] + "...")
