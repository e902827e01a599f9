"""Rows of text and label from tsv, csv and jsonl files.

Blank lines are skipped.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mtl_tf.core.columns import column_value, each, has_column, keys_beside
from mtl_tf.core.errors import DataError
from mtl_tf.core.names import hint
from mtl_tf.datasets.csv_records import (
    COMMA,
    csv_records,
    is_blank,
    other_delimiter,
)
from mtl_tf.datasets.lines import count, short
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks.reading.file_records import (
    Odd,
    Place,
    ignore,
    json_objects,
    lines_of,
)

FORMATS = ("tsv", "csv", "jsonl")
Column = int | str
#: The column of a feature, or those of a target that has several.
Columns = Column | tuple[Column, ...]
Parse = Callable[[Any, str], Any]
#: The result of `parse` for a row that is left out.
SKIP = object()
#: The result of `parse` for a row without a target.
MISSING = object()
_SKIPS = "`skip_malformed=True` in the task's entry leaves such rows out"
_SHOWN = 40  # characters of a wrong value in a message


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


class Layout(NamedTuple):
    """The layout of a file.

    Attributes:
        format: "tsv", "csv" (RFC 4180) or "jsonl".
        columns: for each feature the name of its column, or its number from 0:
            the texts, and last the target, which may have several columns.
        header: whether the first row of a tsv or csv file names the columns.
        delimiter: separates the cells of a csv file.
        skip_malformed: whether rows with a wrong number of columns are left
            out; otherwise they are errors.
    """

    format: str
    columns: Mapping[str, Columns]
    header: bool
    delimiter: str = COMMA
    skip_malformed: bool = False

    @property
    def texts(self) -> list[str]:
        """The text features."""
        return list(self.columns)[:-1]

    @property
    def pairs(self) -> list[tuple[str, Column]]:
        """Each feature with its column, or with each of its columns."""
        return [(f, c) for f, cs in self.columns.items() for c in each(cs)]

    @property
    def all_columns(self) -> list[Column]:
        """The columns of all features."""
        return [column for _, column in self.pairs]

    def divider(self) -> Callable[[Sequence[Any]], tuple[tuple, Any]]:
        """A function of a row's values that returns its texts and its target.

        A target of several columns is a mapping from these to their values.
        """
        count, of_target = len(self.texts), list(self.columns.values())[-1]
        if not isinstance(of_target, tuple):
            return lambda values: (tuple(values[:count]), values[count])
        return lambda values: (
            tuple(values[:count]),
            dict(zip(of_target, values[count:])),
        )

    @property
    def separator(self) -> str:
        """The name of what separates the cells of a tsv or csv file."""
        character = "\t" if self.format == "tsv" else self.delimiter
        return {"\t": "tab", COMMA: "comma"}.get(character, repr(character))


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
            f"{_delimiter_advice(columns, layout)}"
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
        columns = [_place(path, first[1], c, layout) for c in columns]
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
            raise _too_few(path, line, cells, first, layout, columns)
        elif len(cells) != width:
            raise _another_width(path, line, cells, first, layout)
        texts, target = divided([cells[column] for column in columns])
        place = Place(path, line)
        target = _parsed(place, target, list(layout.columns)[-1], parse)
        yield Row(texts, target, place)


def _parsed(place: Place, value: Any, key: str, parse: Parse) -> Any:
    try:
        return parse(value, key)
    except ValueError as error:
        raise DataError(f"{place}: {error}")


def _place(
    path: str, header: Sequence[str], column: Column, layout: Layout
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
    advice = _delimiter_advice(header, layout) or (
        f"; {known}{'' if known.endswith('?') else '.'} Without a header, give "
        "the columns by number"
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


def _delimiter_advice(first: Sequence[str], layout: Layout) -> str:
    """The advice if the first row suggests another delimiter, or ""."""
    delimiter = "\t" if layout.format == "tsv" else layout.delimiter
    other = other_delimiter(first, delimiter)
    if not other:
        return ""
    settings = ["format to 'csv'"] if layout.format == "tsv" else []
    settings += [f"delimiter to {other!r}"]
    return (
        f": if {other!r} separates the columns, set "
        f"{' and '.join(settings)} in the task's entry"
    )


def _too_few(
    path: str,
    line: int,
    cells: Sequence[str],
    first_row: tuple[int, list[str]],
    layout: Layout,
    columns: Sequence[int],
) -> DataError:
    count = (
        f"no {layout.separator} in the line"
        if len(cells) == 1
        else f"{len(cells)} columns"
    )
    missing = [
        f"the {feature.replace('_', ' ')} is wanted in column {column}"
        for (feature, _), column in zip(layout.pairs, columns)
    ]
    advice = _delimiter_advice(first_row[1], layout)
    if not advice and len(first_row[1]) > max(columns):
        advice = f"; {_SKIPS}"
    return DataError(
        f"{path}:{line}: {count}, but {' and '.join(missing)} (counted from "
        f"0): {short(cells[0])}{advice}"
    )


def _another_width(
    path: str,
    line: int,
    cells: Sequence[str],
    first_row: tuple[int, list[str]],
    layout: Layout,
) -> DataError:
    """The error for a row with all columns that are read, but not as many.

    A text of the longer one of the two rows may hold an unquoted comma or tab.
    """
    repair = {"csv": 'stand in quotes ("...")', "tsv": "become a space"}
    rule = (
        f"a {layout.separator} within a text has to {repair[layout.format]}, "
        "and cells that only some rows have must be removed"
    )
    if len(cells) < len(first_row[1]):
        rule = (
            f"if line {first_row[0]} is right, cells are missing here, which "
            f"may be so only under a header; if not, {rule}"
        )
    advice = _delimiter_advice(first_row[1], layout) or f": {rule}; {_SKIPS}"
    return DataError(
        f"{path}:{line}: {len(cells)} columns, but line {first_row[0]} has "
        f"{len(first_row[1])}{advice}: {short(cells[0])}"
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
        for key in keys:
            if not has_column(value, key):
                raise DataError(
                    f"{place}: no key {key!r}; {keys_beside(value, key)}"
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
