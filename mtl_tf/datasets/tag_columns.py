"""Writes predicted tags into columns of column files."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets.column_rows import ColumnLayout, ColumnSentence
from mtl_tf.datasets.lines import count, short

_CELL = re.compile("[^ \t]+")
# Placeholders in a column that is yet to be filled.
_NO_TAGS = ("_", "-")


@dataclasses.dataclass(frozen=True)
class TagColumn:
    """The column that gets the tags of a task.

    Attributes:
        task: the task's name.
        number: the column's number, from 0, or negative from the last.
        field: the column's name in `--columns`.
        known: the tags that it may contain already. If it has none of them,
            replacing it is refused; None allows any content.
        unread: the text for tokens that the model did not read.
    """

    task: str
    number: int
    field: str = "tags"
    known: frozenset[str] | None = None
    unread: str = "O"


class TagColumns:
    """Inserts tags into the lines of a column file; the rest is unchanged.

    A column that the file has is replaced; others are added after the last one.
    The first sentence decides which.

    Args:
        name: the file's name, for messages.
        layout: the file's layout.
        columns: the columns to write; new ones are added in this order.
    """

    def __init__(
        self, name: str, layout: ColumnLayout, columns: Sequence[TagColumn]
    ):
        self._name, self._layout = name, layout
        self._columns = list(columns)
        self._replaced: dict[int, TagColumn] = {}
        self._added: list[TagColumn] = []
        self._is_placed = False
        self._unread, self._first_unread = 0, ""

    def text(
        self, sentence: ColumnSentence, tags: Mapping[str, Sequence[str]]
    ) -> str:
        """The lines of a sentence with its tags.

        Args:
            sentence: a sentence of the file.
            tags: by task; fewer than tokens if the model did not read all.

        Raises:
            ConfigError, DataError: the columns cannot be those of the tags.
        """
        if not self._is_placed:
            self._place(sentence)
        whole = {
            column.task: self._whole(sentence, column, tags[column.task])
            for column in self._columns
        }
        lines = list(sentence.lines)
        for position, row in enumerate(sentence.rows):
            cells = {
                number: whole[column.task][position]
                for number, column in self._replaced.items()
            }
            added = [whole[column.task][position] for column in self._added]
            number = row.line - sentence.first_line
            lines[number] = _changed(
                lines[number], cells, added, self._layout.separator
            )
        return as_text(lines)

    def _whole(
        self, sentence: ColumnSentence, column: TagColumn, tags: Sequence[str]
    ) -> list[str]:
        if not self._layout.separator:
            # White space would start another column.
            tags = ["_".join(tag.split()) for tag in tags]
        missing = len(sentence.rows) - len(tags)
        if missing:
            line = sentence.rows[len(tags)].line
            self._first_unread = self._first_unread or f"{self._name}:{line}"
            self._unread += missing
        return [*tags, *[column.unread] * missing]

    def tell(self) -> None:
        """Logs the number of tokens that the model did not read."""
        if self._unread:
            logging.warning(
                "%s not read, since text.max_length cuts sentences (first: "
                "%s): their tags are %s",
                count(self._unread, "token"),
                self._first_unread,
                " or ".join(sorted({c.unread for c in self._columns})),
            )

    def _place(self, sentence: ColumnSentence) -> None:
        width = len(sentence.rows[0].cells)
        if width == 1:
            self._check_separator(sentence)
        behind: list[tuple[int, TagColumn]] = []
        for column in self._columns:
            number = self._number(column, width)
            if number >= width:
                behind.append((number, column))
                continue
            if number in self._replaced:
                raise self._twice(column, self._replaced[number])
            self._check(column, number, sentence)
            self._replaced[number] = column
        behind.sort(key=lambda pair: pair[0])
        self._added = [column for _, column in behind]
        for position, (number, column) in enumerate(behind):
            if column.known is None and number != width + position:
                raise ConfigError(
                    f"--columns: {column.field} is column {number} (counted "
                    f"from 0), but {self._name} has {count(width, 'column')}: "
                    f"the next one is {width + position}"
                )
        self._is_placed = True

    def _check_separator(self, sentence: ColumnSentence) -> None:
        """Refuses a single column whose cells all look like several cells."""
        cells = [row.cells[0] for row in sentence.rows]
        for mark in (" ", "\t") if self._layout.separator else (",", ";", "|"):
            # A separator mark alone is a token.
            if len(cells) > 1 and all(mark in cell[1:-1] for cell in cells):
                raise DataError(
                    f"{self._name}:{sentence.rows[0].line}: one column, "
                    f"{short(cells[0])}: if {mark!r} separates columns, give "
                    f"--delimiter={mark!r}"
                )

    def _number(self, column: TagColumn, width: int) -> int:
        """The column's number in the file; `width` or more if it is new."""
        number = column.number
        if number < 0:
            number += width
        tokens = self._layout.tokens % width
        if number == tokens or number < 0:
            if column.known is not None and column.number < 0:
                return width
            meaning = "that of the tokens" if number == tokens else "none"
            raise ConfigError(
                f"--columns: {column.field} is column {column.number} (counted "
                f"from 0), which is {meaning} in {self._name}, of "
                f"{count(width, 'column')}"
            )
        return number

    def _check(
        self, column: TagColumn, number: int, sentence: ColumnSentence
    ) -> None:
        """Refuses to replace a column without any tag of the task."""
        cells = [row.cells[number] for row in sentence.rows]
        if column.known is None or any(
            cell in column.known or cell in _NO_TAGS for cell in cells
        ):
            return
        width = len(sentence.rows[0].cells)
        raise DataError(
            f"{self._name}:{sentence.rows[0].line}: column {number} (counted "
            f"from 0) is that of the tags of {column.task}, but has "
            f"{short(cells[0])}, which is none: --columns={column.field}="
            f"{number} replaces it, --columns={column.field}={width} adds one"
        )

    def _twice(self, column: TagColumn, other: TagColumn) -> ConfigError:
        return ConfigError(
            f"the tags of {other.task} and {column.task} would go into the "
            f"same column of {self._name}: give --columns={other.task}=COLUMN,"
            f"{column.task}=COLUMN"
        )


def as_text(lines: Iterable[str]) -> str:
    r"""Lines with their `\n`."""
    return "".join(f"{line}\n" for line in lines)


def _changed(
    line: str, cells: Mapping[int, str], added: Sequence[str], separator: str
) -> str:
    """A line with changed cells, and new ones after the last."""
    body = line.removesuffix("\r")
    end = line[len(body) :]
    if separator:
        parts = body.split(separator)
        for number, cell in cells.items():
            parts[number] = cell
        return separator.join([*parts, *added]) + end
    places = [match.span() for match in _CELL.finditer(body)]
    # As wide as the gap before the last cell.
    gap = body[places[-2][1] : places[-1][0]] if len(places) > 1 else " "
    last = places[-1][1]
    body = body[:last] + "".join(gap + cell for cell in added) + body[last:]
    for number, cell in sorted(cells.items(), reverse=True):
        start, stop = places[number]
        body = body[:start] + cell + body[stop:]
    return body + end
