"""Files of one JSON list of objects, as written by pandas' `to_json`.

This module does not need TensorFlow.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import short
from mtl_tf.datasets.sources import head_of

_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def is_list(path: str) -> bool:
    """Whether a file begins like a list, unlike JSON lines.

    Raises:
        DataError: it is missing, unreadable or badly compressed.
    """
    return is_start(head_of(path))


def is_start(content: bytes) -> bool:
    """Whether bytes begin like a list."""
    content = content.removeprefix(codecs.BOM_UTF8)
    return content.lstrip(b" \t\r\n").startswith(b"[")


def place(path: str, number: int) -> str:
    """The name in messages of an element; numbers count from 1."""
    return f"{path}: element {number}"


def elements(path: str, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields number and object of each element; only the text is kept.

    Args:
        path: the file, for messages.
        content: its uncompressed bytes.

    Raises:
        DataError: it is not UTF-8, or no list of objects; the message names the
            element.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start:,} is not UTF-8, which a list of JSON "
            "has to be"
        )
    number, position = 0, _behind_blanks(text, 0) + 1
    end = ","
    while end == ",":
        position = _behind_blanks(text, position)
        if not number and text[position : position + 1] == "]":
            end, position = "]", position + 1
            break
        number += 1
        value, position = _element(path, number, text, position)
        yield number, value
        position = _behind_blanks(text, position)
        end = text[position : position + 1]
        position += 1
    if end != "]":
        next_character = repr(end) if end else "the end of the file"
        raise DataError(
            f"{place(path, number)}: a comma or ] must stand behind it, found "
            f"{next_character}"
        )
    rest = text[position:].strip()
    if rest:
        raise DataError(
            f"{path}: more stands behind the list, {short(rest)}: a file has "
            "one list, or an object a line"
        )


def _element(
    path: str, number: int, text: str, position: int
) -> tuple[dict[str, Any], int]:
    """The object at a position of the text, and the position after it."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place(path, number)}: not valid JSON: {error}")
    if not isinstance(value, dict):
        raise DataError(
            f"{place(path, number)}: must be a JSON object, found "
            f"{short(text[position:end])}"
        )
    return value, end


def _behind_blanks(text: str, position: int) -> int:
    return _BLANKS.match(text, position).end()
