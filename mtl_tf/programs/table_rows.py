"""Rows of csv or tsv from single lines."""

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.csv_records import (
    COMMA,
    cells_of,
    is_blank,
    other_delimiter,
)


class TableRows:
    """Joins lines to rows; the first row names the columns.

    Blank lines between rows are skipped. One column may have no name.

    Args:
        name: the file's name, for messages.
        form: "csv", where a quoted cell may contain commas and line feeds, or
            "tsv", which has no quotes.
        delimiter: the one character that separates csv cells.
    """

    def __init__(self, name: str, form: str, delimiter: str = COMMA):
        self._name, self._form = name, form
        self._delimiter = delimiter if form == "csv" else "\t"
        self._header: list[str] = []
        self._lines: list[str] = []  # of the current, incomplete row
        self._first = 0
        self._open = False

    def row(self, line: str, number: int) -> tuple[dict[str, str], str] | None:
        """The row that a line completes, by column, and its location.

        Args:
            line: the line without its end.
            number: the line's number, from 1.

        Raises:
            DataError: quotes are wrong; a row has another number of cells than
                the first one; or the first row is no header, or shows another
                delimiter.
        """
        if not self._open and is_blank(line, self._delimiter):
            return None
        self._first = self._first if self._lines else number
        self._lines.append(line)
        if self._form == "csv":
            # Quotes within quotes are doubled, so a complete record has an even
            # number.
            self._open ^= line.count('"') % 2 == 1
        if self._open:
            return None
        start = self._first
        record, self._lines = "\n".join(self._lines), []
        cells = (
            cells_of(self._name, start, record, self._delimiter)
            if self._form == "csv"
            else record.split("\t")
        )
        location = f"{self._name}:{start}"
        if not self._header:
            self._header = self._checked(cells, location)
            return None
        if len(cells) != len(self._header):
            raise DataError(
                f"{location}: a row must have {len(self._header)} cells, as "
                f"many as the first one, got {len(cells)}"
            )
        return dict(zip(self._header, cells)), location

    def _checked(self, names: list[str], location: str) -> list[str]:
        # As in files to train on. pandas leaves the column of row numbers
        # unnamed.
        names = [name.strip() for name in names]
        for name in names:
            if names.count(name) > 1 or not any(names):
                raise DataError(
                    f"{location}: the first row must name the columns, each "
                    f"once, got {name!r} among {', '.join(names)[:80]!r}"
                )
        if other := other_delimiter(names, self._delimiter):
            form = "--format=csv " if self._form == "tsv" else ""
            raise DataError(
                f"{location}: the first row must name the columns, got "
                f"{names[0][:80]!r}: if {other!r} separates them, give "
                f"{form}--delimiter={other!r}"
            )
        return names

    def check_end(self) -> None:
        """Raises `DataError` if a quoted cell is still open at the end."""
        if self._open:
            raise DataError(
                f"{self._name}:{self._first}: a quoted cell is never closed, "
                'or a cell holds a single ": double it and quote the cell'
            )
