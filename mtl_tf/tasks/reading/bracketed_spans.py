"""Spans in brackets, as the files of CoNLL-2012 (OntoNotes) write names.

A cell opens a span, `(GPE*`, closes it, `*)`, is a span of one token, `(GPE)`,
or does neither, `*`.
"""

import re
from collections.abc import Iterable, Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import short

_CELL = re.compile(r"\*\)?|\(([^()*]+)(?:\*\)?|\))")


def is_bracketed(cells: Iterable[str]) -> bool:
    """Whether all cells of a column are of spans in brackets."""
    return all(map(_CELL.fullmatch, cells))


def to_iob2(path: str, lines: Sequence[int], cells: Sequence[str]) -> list[str]:
    """The tags of a sentence in IOB2.

    Args:
        path: the file, for messages.
        lines: the line of each cell, for messages.
        cells: the cells, of which `is_bracketed` holds.

    Raises:
        DataError: spans overlap, or brackets have no counterpart; the message
            names `file:line`.

    Example:

    >>> to_iob2("a.conll", [1, 2, 3, 4], ["(ORG*", "*)", "*", "(GPE)"])
    ['B-ORG', 'I-ORG', 'O', 'B-GPE']
    """
    tags, label = [], ""
    for line, cell in zip(lines, cells):
        begins, ends = cell.startswith("("), cell.endswith(")")
        if begins == bool(label) and (begins or ends):
            raise _unpaired(path, line, cell)
        label = _CELL.fullmatch(cell)[1] or label
        prefix = "B" if begins else "I"
        tags.append(f"{prefix}-{label}" if label else "O")
        label = "" if ends else label
    if label:
        raise _unpaired(path, lines[-1], cells[-1])
    return tags


def _unpaired(path: str, line: int, cell: str) -> DataError:
    return DataError(
        f"{path}:{line}: at {short(cell)} the brackets of the tags have no "
        "counterpart or overlap: a span ends in its sentence, before another "
        "one begins"
    )
