"""Values of JSON files that know where they stand, so that errors can say it.

A place is written as in JSONPath: `file.json: $[3].dialogue[0].transcript`.
"""

import dataclasses
import json
from typing import Any

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import short
from mtl_tf.datasets.sources import unpack


@dataclasses.dataclass(frozen=True)
class JsonValue:
    """A value and its place.

    Attributes:
        value: what `json` made of it.
        where: the file and the path in it, for messages.
    """

    value: Any
    where: str

    def member(self, key: str) -> "JsonValue":
        """The member `key` of an object.

        Raises:
            DataError: this is no object, or has no such member.
        """
        if not isinstance(self.value, dict):
            raise self.error(f"an object with {key!r}")
        if key not in self.value:
            raise DataError(
                f"{self.where}: no {key!r} among the members "
                f"{short(', '.join(self.value), 80)}"
            )
        return JsonValue(self.value[key], f"{self.where}.{key}")

    def items(self) -> list["JsonValue"]:
        """The values of a list.

        Raises:
            DataError: this is no list.
        """
        if not isinstance(self.value, list):
            raise self.error("a list")
        return [
            JsonValue(value, f"{self.where}[{index}]")
            for index, value in enumerate(self.value)
        ]

    def text(self) -> str:
        """The value of a string.

        Raises:
            DataError: this is no string.
        """
        if not isinstance(self.value, str):
            raise self.error("a string")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.error("text: half of a surrogate pair is no character")
        return self.value

    def number(self) -> int:
        """The value of a whole number.

        Raises:
            DataError: this is none.
        """
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.error("a whole number")
        return self.value

    def error(self, wanted: str) -> DataError:
        """What to raise when the value is not as wanted."""
        found = short(json.dumps(self.value))
        return DataError(f"{self.where}: found {found}; it must be {wanted}")


def parse_json(path: str, content: bytes) -> JsonValue:
    """The value of a JSON file.

    Args:
        path: the file, for messages; packed by gzip if its name says so.
        content: its bytes.

    Raises:
        DataError: it is not in UTF-8, or no JSON.
    """
    try:
        text = unpack(path, content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start:,} is not UTF-8, which JSON has to be"
        )
    return parse_line(path, text)


def parse_line(path: str, text: str, line: int = 0) -> JsonValue:
    """The value of a text, which is a line of a file or all of it.

    Args:
        path: the file, for messages.
        text: what is parsed.
        line: its number, or 0 for the whole file.

    Raises:
        DataError: it is no JSON.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{path}:{line or error.lineno}"
        raise DataError(f"{place}: no JSON: {error.msg}, column {error.colno}")
    except ValueError as error:  # a number of thousands of digits
        raise DataError(f"{path}:{line or 1}: no JSON: {error}")
    except RecursionError:
        raise DataError(f"{path}:{line or 1}: no JSON: nested too deeply")
    return JsonValue(value, f"{path}:{line}: $" if line else f"{path}: $")
