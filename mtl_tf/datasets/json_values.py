"""JSON of released corpora, with messages that locate errors.

A location is written as in JSONPath: `file.json: $[3].dialogue[0].transcript`.
This module does not need TensorFlow.
"""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from mtl_tf.core import surrogates
from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, short
from mtl_tf.datasets.sources import unpack

_KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


@dataclasses.dataclass(frozen=True)
class JsonValue:
    """A value in a JSON text that knows its location.

    Attributes:
        value: the parsed value.
        location: the file, the line in JSON lines, and the path in the text.
    """

    value: Any
    location: str

    def get(self, key: str, kind: type) -> "JsonValue":
        """The value of a key of this object.

        Args:
            key: the key.
            kind: the type of the value: str, int, bool, list or dict.

        Raises:
            DataError: this is no object, the key is missing, or its value has
                another type.
        """
        self.check(dict)
        if key not in self.value:
            keys = ", ".join(map(repr, list(self.value)[:8])) or "none"
            raise DataError(
                f"{self.location}: the key {key!r} is missing; it must hold "
                f"{_KINDS[kind]} (keys: {keys})"
            )
        return JsonValue(self.value[key], f"{self.location}.{key}").check(kind)

    def items(self, kind: type | None = None) -> Iterator["JsonValue"]:
        """The items of this list, or the values of this object.

        Args:
            kind: the type of all items; None for any.

        Raises:
            DataError: this is neither a list nor an object, or an item has
                another type.
        """
        is_object = isinstance(self.value, dict)
        if not is_object:
            self.check(list)
        pairs = self.value.items() if is_object else enumerate(self.value)
        for key, value in pairs:
            index = short(key, 30) if is_object else key
            item = JsonValue(value, f"{self.location}[{index}]")
            yield item.check(kind) if kind else item

    def check(self, kind: type) -> "JsonValue":
        """Returns this value if it is of `kind`; `true` is no integer.

        Raises:
            DataError: it is not, or it is a text that UTF-8 cannot encode.
        """
        is_right = isinstance(self.value, kind) and (
            kind is bool or not isinstance(self.value, bool)
        )
        if not is_right:
            raise self.wrong(_KINDS[kind])
        if kind is str:
            self._check_text()
        return self

    def wrong(self, rule: str) -> DataError:
        """The error that says what this value must be."""
        text = short(json.dumps(self.value))
        return DataError(f"{self.location}: found {text}; it must be {rule}")

    def _check_text(self) -> None:
        if half := surrogates.first_half(self.value):
            raise DataError(f"{self.location}: {surrogates.rule(half)}")


def read_json(path: str, content: bytes) -> JsonValue:
    """The one JSON value of a file.

    Args:
        path: the file, for messages; compressed by gzip if its name says so.
        content: its bytes.

    Raises:
        DataError: it is not UTF-8, or not JSON.
    """
    return read_plain_json(path, unpack(path, content))


def read_plain_json(path: str, content: bytes) -> JsonValue:
    """Like `read_json`, for uncompressed bytes, whatever the file's name.

    Raises:
        DataError: they are not UTF-8, or not JSON.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start:,} is not UTF-8, which JSON has to be"
        )
    return JsonValue(_parse(text, path), f"{path}: $")


def read_json_lines(file: LineFile) -> Iterator[tuple[int, JsonValue]]:
    """The objects of a file of JSON lines, with line numbers from 1.

    Blank lines are skipped.

    Raises:
        DataError: a line is not a JSON object; the message names `file:line`.
    """
    for number, line in enumerate(file.lines, 1):
        if line.strip():
            value = _parse(line, file.path, number)
            location = f"{file.path}:{number}: $"
            yield number, JsonValue(value, location).check(dict)


def _parse(text: str, path: str, line: int = 0) -> Any:
    """The value of a line of a file, or of the whole file (line 0)."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}:{line or error.lineno}: not JSON: {error.msg} at column "
            f"{error.colno}; is the file whole? Take the official one"
        )
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:  # an integer of thousands of digits
        reason = str(error)
    raise DataError(f"{path}:{line or 1}: JSON that cannot be read: {reason}")
