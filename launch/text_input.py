"""Texts from a file, a pipe or standard input, in batches as they come."""

import codecs
import dataclasses
import json
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from mtl_tf.core.errors import DataError

_CHUNK = 1 << 16


@dataclasses.dataclass(frozen=True)
class Item:
    """One text to be labelled.

    Attributes:
        text: the text.
        task: its task's name, or "" where the input names none.
        where: `file:line`, for messages.
    """

    text: str
    task: str
    where: str


class TextReader:
    """Reads one text a line, or one JSON object a line.

    Lines end at `\\n` only. An empty line is a text, too. Bytes that are not
    UTF-8 become U+FFFD and are counted.

    Args:
        stream: a binary stream with `read1`.
        name: how messages name it.
        form: `text`, or `jsonl` for lines such as
            `{"text": "a fine book", "task": "books"}`; `task` may be absent.

    Attributes:
        replaced: how many characters took the place of undecodable bytes.
        lines: how many lines were read.
    """

    def __init__(self, stream: BinaryIO, name: str, form: str = "text"):
        self._stream = stream
        self._name = name
        self._form = form
        self.replaced = 0
        self.lines = 0

    def batches(self, size: int) -> Iterator[list[Item]]:
        """Yields up to `size` texts at a time.

        A file gives full batches. A pipe or a terminal gives what has
        arrived, so that whoever writes there gets an answer at once.

        Raises:
            DataError: a line of JSON is not what it should be.
        """
        full_batches = _is_file(self._stream)
        waiting: list[Item] = []
        for lines in self._chunks():
            for line in lines:
                waiting.append(self._item(line))
                if len(waiting) == size:
                    yield waiting
                    waiting = []
            if waiting and not full_batches:
                yield waiting
                waiting = []
        if waiting:
            yield waiting

    def _chunks(self) -> Iterator[list[bytes]]:
        """The whole lines of each piece that one read returns."""
        parts: list[bytes] = []
        while chunk := self._stream.read1(_CHUNK):
            first, *rest = chunk.split(b"\n")
            parts.append(first)
            if rest:
                yield [b"".join(parts), *rest[:-1]]
                parts = [rest[-1]]
        last = b"".join(parts)
        if last:
            yield [last]

    def _item(self, line: bytes) -> Item:
        self.lines += 1
        where = f"{self._name}:{self.lines}"
        if self.lines == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = self._decode(line.removesuffix(b"\r"))
        if self._form == "text":
            return Item(text, "", where)
        return self._from_json(text, where)

    def _decode(self, line: bytes) -> str:
        text = line.decode("utf-8", errors="replace")
        if "\ufffd" in text:
            genuine = line.count("\ufffd".encode())
            self.replaced += text.count("\ufffd") - genuine
        return text

    def _from_json(self, line: str, where: str) -> Item:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not JSON: {error}")
        if not isinstance(value, dict) or "text" not in value:
            raise DataError(
                f'{where}: must be an object such as {{"text": "...", '
                f'"task": "..."}}, got {line[:80]}'
            )
        task = value.get("task") or ""
        for field, content in (("text", value["text"]), ("task", task)):
            if not isinstance(content, str):
                raise DataError(
                    f"{where}: {field} must be a string, got {content!r}"
                )
        return Item(self._without_surrogates(value["text"]), task, where)

    def _without_surrogates(self, text: str) -> str:
        # JSON can spell half a surrogate pair, which is no character.
        halves = sum("\ud800" <= letter <= "\udfff" for letter in text)
        if not halves:
            return text
        self.replaced += halves
        return "".join(
            "\ufffd" if "\ud800" <= letter <= "\udfff" else letter
            for letter in text
        )


def _is_file(stream: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
