"""Aligned columns for a terminal, split into blocks to fit its width."""

import itertools
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from mtl_tf.core import terminal

Row = Sequence[str]
_GAP = "  "
# Separates the cells of Markdown; within a cell it is escaped.
_BARS = re.compile(r"(?<!\\)\|")


def blocks(
    rows: Sequence[Row],
    columns: int | None = None,
    texts: Collection[int] = (),
) -> list[list[str]]:
    """Aligns the cells of rows below each other.

    Args:
        rows: rows with equal numbers of cells. The first cell names the row and
            is aligned to the left.
        columns: the largest line length; None for no limit.
        texts: indices of other cells that are aligned to the left.

    Returns:
        The lines of each block, one per row. If the columns do not fit next
        to each other, there are several blocks. Each begins with the row
        names, shortened to a third of the width.
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    if columns and sum(widths) + len(_GAP) * (len(widths) - 1) > columns:
        widths[0] = min(widths[0], max(columns // 3, 8))
    return [
        [_line(row, widths, columns_of_block, texts) for row in rows]
        for columns_of_block in _column_groups(widths, columns)
    ]


def _column_groups(
    widths: Sequence[int], columns: int | None
) -> list[list[int]]:
    """Distributes the columns, except for the first one, over blocks."""
    groups: list[list[int]] = [[]]
    used = widths[0]
    for number, width in enumerate(widths[1:], 1):
        if columns and groups[-1] and used + len(_GAP) + width > columns:
            groups.append([])
            used = widths[0]
        groups[-1].append(number)
        used += len(_GAP) + width
    return groups


def _line(
    row: Row,
    widths: Sequence[int],
    columns: Sequence[int],
    texts: Collection[int],
) -> str:
    title = terminal.shortened(row[0], widths[0]).ljust(widths[0])
    cells = [
        row[n].ljust(widths[n]) if n in texts else row[n].rjust(widths[n])
        for n in columns
    ]
    return _GAP.join([title, *cells]).rstrip()


def wrapped(text: str, columns: int | None = None) -> list[str]:
    """A sentence in lines of at most `columns`; later lines are indented."""
    if not columns:
        return [text]
    return textwrap.wrap(text, columns, subsequent_indent="  ") or [""]


def page(markdown: str, columns: int | None) -> str:
    """A Markdown page for a terminal, with its tables folded to the width.

    Args:
        markdown: the page.
        columns: the largest line length; None returns the page unchanged.
    """
    if not columns:
        return markdown
    lines: list[str] = []
    for is_table, group in itertools.groupby(
        markdown.splitlines(), lambda line: line.startswith("|")
    ):
        fold = _table if is_table else _texts
        lines += fold(list(group), columns)
    return "\n".join(lines) + "\n"


def _table(lines: Sequence[str], columns: int) -> Iterator[str]:
    rows = [
        [
            cell.strip().replace("\\|", "|")
            for cell in _BARS.split(line.strip()[1:-1])
        ]
        for line in lines
    ]
    for number, block in enumerate(blocks([rows[0], *rows[2:]], columns)):
        yield from ["", *block] if number else block


def _texts(lines: Sequence[str], columns: int) -> Iterator[str]:
    for line in lines:
        yield from wrapped(line, columns)
