"""The errors about rows of tables that have wrong columns."""

from collections.abc import Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.csv_records import other_delimiter
from mtl_tf.datasets.lines import short
from mtl_tf.tasks.reading.layouts import Column, Layout

_QUOTED = (
    ": if quotes enclose the cells, as pandas writes them, set format to 'csv' "
    "and delimiter to '\\t' in the task's entry"
)
_SKIPS = "`skip_malformed=True` in the task's entry leaves such rows out"


def naming_advice(feature: str, column: Column) -> str:
    """The advice if a column of the default name is missing, or ""."""
    if column != feature:
        return ""
    return f" (columns.{feature} in the task's entry gives it another name)"


def delimiter_advice(first: Sequence[str], layout: Layout) -> str:
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


def _quoting_advice(cells: Sequence[str], layout: Layout) -> str:
    """The advice if quotes, which tsv has not, seem to enclose cells, or ""."""
    is_open = any(cell.count('"') % 2 for cell in cells)
    return _QUOTED if layout.format == "tsv" and is_open else ""


def too_few(
    path: str,
    line: int,
    cells: Sequence[str],
    first_row: tuple[int, list[str]],
    layout: Layout,
    columns: Sequence[int],
) -> DataError:
    """The error for a row that lacks a column that is read."""
    count = (
        f"no {layout.separator} in the line"
        if len(cells) == 1
        else f"{len(cells)} columns"
    )
    missing = [
        f"the {feature.replace('_', ' ')} is wanted in column {column}"
        for (feature, _), column in zip(layout.pairs, columns)
    ]
    advice = _quoting_advice(cells, layout)
    advice = advice or delimiter_advice(first_row[1], layout)
    if not advice and len(first_row[1]) > max(columns):
        advice = f"; {_SKIPS}"
    return DataError(
        f"{path}:{line}: {count}, but {' and '.join(missing)} (counted from "
        f"0): {short(cells[0])}{advice}"
    )


def another_width(
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
    advice = _quoting_advice(cells, layout)
    advice = advice or delimiter_advice(first_row[1], layout)
    advice = advice or f": {rule}; {_SKIPS}"
    return DataError(
        f"{path}:{line}: {len(cells)} columns, but line {first_row[0]} has "
        f"{len(first_row[1])}{advice}: {short(cells[0])}"
    )
