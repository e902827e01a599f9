"""Rows of text and label from tsv, csv and jsonl files.

Blank lines are skipped.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mtl_tf.core.columns import column_value, has_column, keys_beside
from mtl_tf.core.errors import DataError
from mtl_tf.core.names import hint
from mtl_tf.datasets.csv_records import csv_records, is_blank
from mtl_tf.datasets.lines import count, short
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks.reading import wrong_rows
from mtl_tf.tasks.reading.file_records import (
    Odd,
    Place,
    ignore,
    json_objects,
    lines_of,
)
from mtl_tf.tasks.reading.layouts import Column, Layout

Parse = Callable[[Any, str], Any]
#: The result of `parse` for a row that is left out.
SKIP = object()
#: The result of `parse` for a row without a target.
MISSING = object()
_SHOWN = 40  # characters of a wrong value in a message
_NAMES_COLUMNS = (
    "; or if this row names the columns, set header to True in the task's entry"
)


class Row(NamedTuple):
    """One example as it is in a file."""

    texts: tuple[str, ...]
    target: Any
    place: Place


class OddLines(NamedTuple):
    """Functions that are called with the numbers of odd lines.

    Attributes:
        undecodable: for lines that are not UTF-8.
        malformed: for rows that `skip_malformed` leaves out.
        short: for rows that end before the header's last column.
    """

    undecodable: Odd = ignore
    malformed: Odd = ignore
    short: Odd = ignore


IGNORED = OddLines()


def rows_of(
    path: str, layout: Layout, parse: Parse, odd: OddLines = IGNORED
) -> Iterator[Row]:
    """Yields the rows of a file as it is read, also rows that are SKIP.

    Under a header, a row may end before the last column, if it has all columns
    that are read. A row with more columns is malformed: nothing tells whether a
    text contains the delimiter, which would move the cells after it. Without a
    header, all rows have as many columns as the first one, for the same reason.

    Args:
        path: the file.
        layout: its layout.
        parse: `parse(value, column)` parses a target, which is a cell or a JSON
            value, or a mapping of them by column if it has several. It raises
            `ValueError` for a wrong value, and returns `SKIP` for a row that is
            to be left out.
        odd: called with the numbers of odd lines.

    Raises:
        DataError: the file is missing or unreadable, or a row is wrong; the
            message says where.
    """
    if layout.format == "jsonl":
        records = json_objects(path, odd.undecodable)
        yield from _from_objects(records, layout, parse)
        return
    records = records_of(path, layout, odd.undecodable)
    yield from _from_cells(path, records, layout, parse, odd)


def check_files(paths: Sequence[str], layout: Layout) -> None:
    """Checks the beginnings of a split's files.

    Raises:
        DataError: a file is missing, unreadable or in UTF-16, or a table has
            other columns than the first one.
    """
    for path in paths:
        check_text(path)
    if layout.format == "jsonl" or len(paths) == 1:
        return
    first = _columns(paths[0], layout)
    for path in paths[1:]:
        columns = _columns(path, layout)
        # An empty file is reported when its rows are missed.
        if not columns or not first or columns == first:
            continue
        named = any(isinstance(c, str) for c in layout.all_columns)
        if not (layout.header and named):
            check_widths(paths[0], len(first), path, len(columns))
            continue
        header, first_header = (
            ", ".join(map(short, names[:20])) for names in (columns, first)
        )
        raise DataError(
            f"{path}:1: the header ({header}) is not that of {paths[0]} "
            f"({first_header}): each file of a split has the same one"
            f"{wrong_rows.delimiter_advice(columns, layout)}"
        )


def check_widths(first: str, expected: int, path: str, width: int) -> None:
    """Refuses a file with another number of columns than the first one.

    Raises:
        DataError: the numbers differ.
    """
    if width != expected:
        raise DataError(
            f"{path}: {count(width, 'column')}, but {first} has {expected}: "
            "the files of a split have the same columns"
        )


def _columns(path: str, layout: Layout) -> list[str]:
    """The cells of a table's first row; [] if there is none."""
    _, cells = next(records_of(path, layout), (0, []))
    return [cell.strip() for cell in cells]


def records_of(
    path: str, layout: Layout, odd: Odd = ignore
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a table, with the number of its first line."""
    lines = lines_of(path, odd)
    if layout.format == "csv":
        return csv_records(path, lines, layout.delimiter)
    return _tsv_records(lines)


def _tsv_records(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        if not is_blank(line, "\t"):
            yield number, line.removesuffix("\r").split("\t")


def _from_cells(
    path: str,
    records: Iterator[tuple[int, list[str]]],
    layout: Layout,
    parse: Parse,
    odd: OddLines,
) -> Iterator[Row]:
    columns = layout.all_columns
    first = next(records, None)
    if first is None:
        return
    if layout.header:
        columns = [
            _place(path, first[1], feature, column, layout)
            for feature, column in layout.pairs
        ]
        _check_different(path, layout, columns)
    else:
        records = itertools.chain([first], records)
    width, least, divided = len(first[1]), max(columns) + 1, layout.divider()
    # If not even the first row has all columns, the entry is wrong.
    skips = layout.skip_malformed and width >= least
    for line, cells in records:
        is_short = layout.header and least <= len(cells) < width
        if is_short:
            odd.short(line)
        elif skips and len(cells) != width:
            odd.malformed(line)
            continue
        elif len(cells) < least:
            raise wrong_rows.too_few(path, line, cells, first, layout, columns)
        elif len(cells) != width:
            raise wrong_rows.another_width(path, line, cells, first, layout)
        texts, target = divided([cells[column] for column in columns])
        place = Place(path, line)
        advice = _NAMES_COLUMNS if cells is first[1] else ""
        target = _parsed(place, target, layout.target, parse, advice)
        yield Row(texts, target, place)


def _parsed(
    place: Place, value: Any, key: str, parse: Parse, advice: str = ""
) -> Any:
    try:
        return parse(value, key)
    except ValueError as error:
        raise DataError(f"{place}: {error}{advice}")


def _place(
    path: str,
    header: Sequence[str],
    feature: str,
    column: Column,
    layout: Layout,
) -> int:
    if isinstance(column, int):
        return column
    names = [name.strip() for name in header]
    if names.count(column) > 1:
        places = [str(i) for i, name in enumerate(names) if name == column]
        raise DataError(
            f"{path}:1: {len(places)} columns are called {column!r}: give the "
            f"one that is meant by its number in columns, {' or '.join(places)}"
            ", and set header to True"
        )
    if column in names:
        return names.index(column)
    listed = ", ".join(short(name) for name in names[:20])
    known = hint(column, names)
    advice = wrong_rows.delimiter_advice(header, layout) or (
        f"; {known}{wrong_rows.naming_advice(feature, column)}"
        f"{'' if known.endswith('?') else '.'} Without a header, give the "
        "columns by number"
    )
    raise DataError(
        f"{path}:1: no column {column!r} in the header ({listed}){advice}"
    )


def _check_different(path: str, layout: Layout, places: Sequence[int]) -> None:
    """Refuses a column that is given both by name and by number."""
    of_place: dict[int, tuple[str, Column]] = {}
    for (feature, column), place in zip(layout.pairs, places):
        other, before = of_place.setdefault(place, (feature, column))
        # A layout that gives the same value twice means it.
        if column != before:
            raise DataError(
                f"{path}:1: columns.{other} and columns.{feature} are both "
                f"column {place} (counted from 0)"
            )


def _from_objects(
    records: Iterable[tuple[Place, dict[str, Any]]],
    layout: Layout,
    parse: Parse,
) -> Iterator[Row]:
    keys, divided = layout.all_columns, layout.divider()
    of_target = keys[len(layout.texts) :]
    for place, value in records:
        for key in of_target:
            if not has_column(value, key) and _may_be_missing(parse, key):
                value = {**value, key: None}
        for feature, key in layout.pairs:
            if not has_column(value, key):
                raise DataError(
                    f"{place}: no key {key!r}; {keys_beside(value, key)}"
                    f"{wrong_rows.naming_advice(feature, key)}"
                )
        texts, target = divided([column_value(value, key) for key in keys])
        for key, text in zip(keys, texts):
            if not isinstance(text, str):
                raise DataError(
                    f"{place}: {key!r} must be a string, found "
                    f"{json.dumps(text):.{_SHOWN}}"
                )
        yield Row(texts, _parsed(place, target, keys[-1], parse), place)


def _may_be_missing(parse: Parse, key: Column) -> bool:
    """Whether rows without a target are left out."""
    try:
        return parse(None, key) is MISSING
    except ValueError:
        return False
