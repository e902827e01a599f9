"""Records of csv files (RFC 4180) from decoded lines."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets.lines import short

COMMA = ","
_DELIMITERS = (";", "\t", "|", COMMA)


def checked_delimiter(name: str, value: str) -> str:
    """Returns `value`, a valid delimiter.

    Args:
        name: the field or flag, for the message.
        value: the delimiter of cells.

    Raises:
        ConfigError: it is not one valid character.
    """
    if isinstance(value, str) and len(value) == 1 and value not in '"\r\n':
        return value
    raise ConfigError(
        f"{name} must be one character, such as ';', and no quote or line "
        f"end, got {value!r}"
    )


def other_delimiter(cells: Sequence[str], delimiter: str) -> str:
    """The character that seems to separate columns instead of `delimiter`.

    Args:
        cells: the cells of a file's first record.
        delimiter: the delimiter that split them.

    Returns:
        The character, or "".
    """
    if len(cells) != 1:
        return ""
    counts = {d: cells[0].count(d) for d in _DELIMITERS if d != delimiter}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else ""


def is_blank(line: str, delimiter: str) -> bool:
    """Whether a line of a table is no row, not even of two empty cells."""
    return delimiter not in line and not line.strip()


def csv_records(
    path: str, lines: Iterable[str], delimiter: str = COMMA
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record, with the number of its first line, from 1.

    Blank lines between records are skipped.

    Args:
        path: the file, for messages.
        lines: its lines, split only at line feeds.
        delimiter: the one character that separates cells.

    Raises:
        DataError: quotes are wrong; the message names `file:line`.
    """
    # Not by Python's csv module, which limits the length of a field by a global
    # setting and ends a record at a bare carriage return.
    record: list[str] = []
    is_open, number = False, 0
    for number, line in enumerate(lines, start=1):
        if not record and is_blank(line, delimiter):
            continue
        record.append(line)
        # Quotes within quotes are doubled, so a complete record has an even
        # number.
        is_open ^= line.count('"') % 2 == 1
        if not is_open:
            start = number - len(record) + 1
            yield start, cells_of(path, start, "\n".join(record), delimiter)
            record = []
    if is_open:
        raise DataError(
            f"{path}:{number - len(record) + 1}: a quoted field is never "
            'closed, or a field holds a single ": double it and quote the field'
        )


def cells_of(
    path: str, line: int, record: str, delimiter: str = COMMA
) -> list[str]:
    """The cells of a record.

    Args:
        path: the file, for messages.
        line: the number of its first line.
        record: its text, with line feeds within quoted cells.
        delimiter: the one character that separates cells.

    Raises:
        DataError: quotes are wrong; the message names `file:line`.
    """
    record = record.removesuffix("\r")
    cells, position, field = [], 0, _field(delimiter)
    while True:
        match = field.match(record, position)
        if not match:
            raise DataError(
                f'{path}:{line}: a " stands inside of an unquoted field or '
                "behind a quoted one: quote the whole field and double the "
                f"quotes in it{_advice(record[position:], delimiter)}, in "
                f"{short(record[position:])}"
            )
        quoted, plain, end = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if not end:
            return cells
        position = match.end()


def _advice(fields: str, delimiter: str) -> str:
    """The advice if a field next to quotes ends with another delimiter."""
    others = "".join(d for d in _DELIMITERS if d != delimiter)
    # Spreadsheets and R's write.csv2 quote cells between semicolons.
    match = re.match(rf'"(?:[^"]|"")*"([{others}])|[^"]*?([{others}])"', fields)
    if not match:
        return ""
    other = match[1] or match[2]
    return f"; or if {other!r} separates the cells, give it as delimiter"


@functools.cache
def _field(delimiter: str) -> re.Pattern[str]:
    """A pattern of one field and the delimiter or the end after it."""
    end = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{end}]*))({end}|$)')
