r"""Lines of the user's files, the JSON objects in them, and their places.

Bytes are split on `\n` only, because reviews contain other characters that
`str.splitlines` breaks at. A `\r` before it is dropped. A line that is not
UTF-8 is read as Latin-1. Blank lines are skipped.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import json_lists
from mtl_tf.datasets.lines import short
from mtl_tf.datasets.sources import opened, read_file, unpack

Odd = Callable[[int], None]
#: The units of a JSON file: lines, or elements of one list.
LINE, ELEMENT = "line", "element"


class Place(NamedTuple):
    """The location of an example in a file; numbers count from 1."""

    path: str
    number: int
    unit: str = LINE

    def __str__(self) -> str:
        if self.unit == LINE:
            return f"{self.path}:{self.number}"
        return f"{self.path}: {self.within}"

    @property
    def within(self) -> str:
        """The location within the file."""
        return f"{self.unit} {self.number}"


def ignore(number: int) -> None:
    """Ignores an odd line."""
    del number


def lines_of(path: str, odd: Odd = ignore) -> Iterator[str]:
    """Yields the lines of a file.

    Args:
        path: the file, compressed by gzip if its name ends in `.gz`.
        odd: called with the number of each line that is not UTF-8.

    Raises:
        DataError: it is missing, unreadable or badly compressed.
    """
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            line = line.removesuffix(b"\n")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = line.decode("latin-1")
                odd(number)
            yield text


def unit_of(path: str) -> str:
    """The unit of a JSON file: `LINE` or `ELEMENT`.

    Raises:
        DataError: it is missing, unreadable or badly compressed.
    """
    return ELEMENT if json_lists.is_list(path) else LINE


def json_objects(
    path: str, odd: Odd = ignore
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yields the JSON objects of a file, one a line or all in one list.

    The text of a list is held in memory while it is read.

    Args:
        path: the file, compressed by gzip if its name ends in `.gz`.
        odd: called with the number of each line that is not UTF-8.

    Raises:
        DataError: the file cannot be read, or the named line or element is no
            object.
    """
    if unit_of(path) == ELEMENT:
        content = unpack(path, read_file(path))
        for number, value in json_lists.elements(path, content):
            yield Place(path, number, ELEMENT), value
        return
    for number, line in enumerate(lines_of(path, odd), start=1):
        if line.strip():
            place = Place(path, number)
            yield place, _object(place, line)


def _object(place: Place, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = f"{error}".replace("line 1 column", "column")
        raise DataError(
            f"{place}: not valid JSON: {reason}; each line must hold one "
            "whole object, or the file one list of objects"
        )
    if not isinstance(value, dict):
        raise DataError(
            f"{place}: a line must be a JSON object, found {short(line)}"
        )
    return value
