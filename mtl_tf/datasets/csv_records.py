"""Records of csv files (RFC 4180) from lines that are already decoded."""

import re
from collections.abc import Iterable, Iterator

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import short

# One field of a record and the comma or the end behind it.
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",]*))(,|$)')


def csv_records(
    path: str, lines: Iterable[str]
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record, with the number of its first line, from 1.

    Args:
        path: the file, for messages.
        lines: its lines, split at line feeds only.

    Raises:
        DataError: quotes are wrong; the message names `file:line`.
    """
    # By hand: Python's csv module limits the length of a field by a global
    # setting and takes a bare carriage return for the end of a record.
    record: list[str] = []
    is_open, number = False, 0
    for number, line in enumerate(lines, start=1):
        record.append(line)
        # Quotes inside of quotes are doubled, so a whole record has an even
        # number of them.
        is_open ^= line.count('"') % 2 == 1
        if not is_open:
            start = number - len(record) + 1
            yield start, cells_of(path, start, "\n".join(record))
            record = []
    if is_open:
        raise DataError(
            f"{path}:{number - len(record) + 1}: a quoted field is never "
            'closed, or a field holds a single ": double it and quote the field'
        )


def cells_of(path: str, line: int, record: str) -> list[str]:
    """The cells of a record.

    Args:
        path: the file, for messages.
        line: the number of its first line.
        record: its text, with line feeds within quoted cells.

    Raises:
        DataError: quotes are wrong; the message names `file:line`.
    """
    record = record.removesuffix("\r")
    cells, position = [], 0
    while True:
        match = _FIELD.match(record, position)
        if not match:
            raise DataError(
                f'{path}:{line}: a " stands inside of an unquoted field or '
                "behind a quoted one: quote the whole field and double the "
                f"quotes in it, in {short(record[position:])}"
            )
        quoted, plain, end = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if not end:
            return cells
        position = match.end()
