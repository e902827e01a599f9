"""Aligned columns for a terminal, in as many blocks as its width asks for."""

import textwrap
from collections.abc import Sequence

from mtl_tf.core import terminal

Row = Sequence[str]
_GAP = "  "


def blocks(rows: Sequence[Row], columns: int | None = None) -> list[list[str]]:
    """Aligns the cells of rows below each other.

    Args:
        rows: equally many cells each; the first ones name the rows, and are
            aligned to the left.
        columns: how long a line may be; None for any length.

    Returns:
        The lines of each block, one a row. Where the columns do not fit side
        by side, blocks follow each other, each of which begins with the names
        of the rows, shortened to a third of the width.
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    if columns and sum(widths) + len(_GAP) * (len(widths) - 1) > columns:
        widths[0] = min(widths[0], max(columns // 3, 8))
    return [
        [_line(row, widths, chosen) for row in rows]
        for chosen in _chosen(widths, columns)
    ]


def _chosen(widths: Sequence[int], columns: int | None) -> list[list[int]]:
    """Which columns stand in which block, without the first one."""
    found: list[list[int]] = [[]]
    taken = widths[0]
    for number, width in enumerate(widths[1:], 1):
        if columns and found[-1] and taken + len(_GAP) + width > columns:
            found.append([])
            taken = widths[0]
        found[-1].append(number)
        taken += len(_GAP) + width
    return found


def _line(row: Row, widths: Sequence[int], chosen: Sequence[int]) -> str:
    first = terminal.shortened(row[0], widths[0]).ljust(widths[0])
    rest = [row[number].rjust(widths[number]) for number in chosen]
    return _GAP.join([first, *rest]).rstrip()


def wrapped(text: str, columns: int | None = None) -> list[str]:
    """A sentence in lines of at most `columns`, the later ones indented."""
    if not columns:
        return [text]
    return textwrap.wrap(text, columns, subsequent_indent="  ") or [""]
