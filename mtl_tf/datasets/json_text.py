"""JSON of released corpora, with messages that say where something is wrong.

Nothing here needs TensorFlow.
"""

import json
from collections.abc import Iterator
from typing import Any

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, short

_KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


class Node:
    """A value in a JSON text, which knows where it stands.

    Args:
        value: the value, as `json` gives it.
        where: `file:line`, or the file and the path in it, for messages.
    """

    def __init__(self, value: Any, where: str):
        self.value = value
        self.where = where

    def get(self, key: str, kind: type) -> "Node":
        """The value of a key of this object.

        Args:
            key: the key.
            kind: type of the value: str, int, bool, list or dict.

        Raises:
            DataError: this is no object, the key is missing, or its value is of
                another kind.
        """
        if not isinstance(self.value, dict):
            raise self.wrong(_KINDS[dict])
        if key not in self.value:
            keys = ", ".join(map(repr, list(self.value)[:8])) or "none"
            raise DataError(
                f"{self.where}: the key {key!r} is missing; it must hold "
                f"{_KINDS[kind]} (keys: {keys})"
            )
        return Node(self.value[key], f"{self.where}.{key}").check(kind)

    def items(self, kind: type) -> Iterator["Node"]:
        """The items of this list, or the values of this object.

        Raises:
            DataError: one of them is of another kind.
        """
        is_object = isinstance(self.value, dict)
        pairs = self.value.items() if is_object else enumerate(self.value)
        for key, value in pairs:
            shown = short(key, 30) if is_object else key
            yield Node(value, f"{self.where}[{shown}]").check(kind)

    def check(self, kind: type) -> "Node":
        """This value, which must be of `kind`; `true` is no whole number.

        Raises:
            DataError: it is not, or it is a text that UTF-8 cannot write.
        """
        is_right = isinstance(self.value, kind) and (
            kind is bool or not isinstance(self.value, bool)
        )
        if not is_right:
            raise self.wrong(_KINDS[kind])
        if kind is str:
            self._check_text()
        return self

    def wrong(self, wanted: str) -> DataError:
        """The error that says what this value must be."""
        return DataError(
            f"{self.where}: found {short(json.dumps(self.value))}; it must be "
            f"{wanted}"
        )

    def _check_text(self) -> None:
        try:
            self.value.encode("utf-8")
        except UnicodeEncodeError as error:
            code = ord(self.value[error.start])
            raise DataError(
                f"{self.where}: half of a surrogate pair (\\u{code:04x}) "
                "stands alone; write the whole character"
            )


def read_json(file: LineFile) -> Node:
    """The one JSON value of a file.

    Raises:
        DataError: it is not JSON; the message names `file:line`.
    """
    return Node(_parse("\n".join(file.lines), file.path), file.path)


def read_json_lines(file: LineFile) -> Iterator[tuple[int, Node]]:
    """The objects of a file of JSON lines, with line numbers from 1.

    Blank lines are passed over.

    Raises:
        DataError: a line is not a JSON object; the message names `file:line`.
    """
    for number, line in enumerate(file.lines, 1):
        if line.strip():
            where = f"{file.path}:{number}"
            yield number, Node(_parse(line, where, True), where).check(dict)


def _parse(text: str, where: str, is_line: bool = False) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = where if is_line else f"{where}:{error.lineno}"
        raise DataError(
            f"{place}: not JSON: {error.msg} at column {error.colno}; is the "
            "file whole? Take the official one"
        )
    except (RecursionError, ValueError) as error:
        raise DataError(f"{where}: JSON that cannot be read: {error}")
