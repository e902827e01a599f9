"""Properties of a stream: whether it is a terminal, its width, colours."""

import os
from typing import TextIO

#: The terminal code for "erase from here to the end of the line".
ERASE = "\r\x1b[K"
_USUAL_WIDTH = 80
_CODES = {"red": 31, "yellow": 33}


def is_terminal(stream: TextIO) -> bool:
    """Whether `stream` is a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False  # closed, or no stream at all


def width(stream: TextIO) -> int | None:
    """The columns of the terminal `stream`; None if it is none."""
    if not is_terminal(stream):
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    # Serial terminals, and those of some editors, report 0.
    return columns or _USUAL_WIDTH


def has_colours(stream: TextIO) -> bool:
    """Whether to write in colour: to terminals, unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(stream)


def coloured(text: str, colour: str, stream: TextIO) -> str:
    """`text` in a colour, `red` or `yellow`, if `stream` has colours."""
    if not has_colours(stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def shortened(text: str, columns: int) -> str:
    """`text`, with an ellipsis if it does not fit in `columns`."""
    if len(text) <= columns:
        return text
    return text[: max(columns - 1, 0)] + "…"[:columns]
