"""Texts from a file, a pipe or standard input, in batches as they come."""

import codecs
import dataclasses
import json
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.column_files import DOCUMENT
from mtl_tf.datasets.sources import wide_encoding, wrong_encoding

FORMATS = ("text", "jsonl", "conll")

_CHUNK = 1 << 16


@dataclasses.dataclass(frozen=True)
class Item:
    """One text to be labelled, or one sentence to be tagged.

    Attributes:
        text: the text; None where its tokens are given.
        task: its task's name, or "" where the input names none.
        where: `file:line`, for messages.
        tokens: the tokens, where they are given.
    """

    text: str | None
    task: str
    where: str
    tokens: tuple[str, ...] | None = None

    @property
    def content(self) -> str | list[str]:
        """What a run predicts from: the text, or the list of tokens."""
        return list(self.tokens) if self.text is None else self.text


class TextReader:
    """Reads a text or a JSON object a line, or sentences of a token a line.

    Lines end at `\\n` only. An empty line is a text, too, but in columns it
    ends a sentence, and among JSON it is nothing. Bytes that are not UTF-8
    become U+FFFD and are counted.

    Args:
        stream: a binary stream with `read1`.
        name: how messages name it.
        form: `text`; `jsonl` for lines such as
            `{"text": "a fine book", "task": "books"}` or
            `{"tokens": ["a", "fine", "book"], "task": "chunk"}`, of which
            `task` may be absent; `conll` for columns, of which the first one
            holds the tokens (`-DOCSTART-` lines are skipped).

    Attributes:
        replaced: how many characters took the place of undecodable bytes.
        lines: how many lines were read.
    """

    def __init__(self, stream: BinaryIO, name: str, form: str = "text"):
        self._stream = stream
        self._name = name
        self._form = form
        self._tokens: list[str] = []  # of the sentence that is being read
        self._first_line = 0
        self.replaced = 0
        self.lines = 0

    def batches(self, size: int) -> Iterator[list[Item]]:
        """Yields up to `size` texts at a time.

        A file gives full batches. A pipe or a terminal gives what has
        arrived, so that whoever writes there gets an answer at once.

        Raises:
            DataError: a line of JSON is not what it should be, or the text
                is in UTF-16.
        """
        full_batches = _is_file(self._stream)
        waiting: list[Item] = []
        for lines in self._chunks():
            for line in lines:
                item = self._item(line)
                if item is None:
                    continue
                waiting.append(item)
                if len(waiting) == size:
                    yield waiting
                    waiting = []
            if waiting and not full_batches:
                yield waiting
                waiting = []
        last = self._sentence()
        waiting += [last] if last else []
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

    def _item(self, line: bytes) -> Item | None:
        """What a line completes."""
        self.lines += 1
        where = f"{self._name}:{self.lines}"
        if self.lines == 1:
            if encoding := wide_encoding(line):
                raise DataError(wrong_encoding(self._name, encoding))
            line = line.removeprefix(codecs.BOM_UTF8)
        text = self._decode(line.removesuffix(b"\r"))
        if self._form == "text":
            return Item(text, "", where)
        if self._form == "jsonl":
            return self._from_json(text, where) if text.strip() else None
        return self._from_columns(text)

    def _from_columns(self, line: str) -> Item | None:
        token = line.replace("\t", " ").strip(" ").partition(" ")[0]
        if not token or line.startswith(DOCUMENT):
            return self._sentence()
        self._first_line = self._first_line or self.lines
        self._tokens.append(token)
        return None

    def _sentence(self) -> Item | None:
        """The sentence whose tokens have been read, if there are any."""
        tokens, where = tuple(self._tokens), f"{self._name}:{self._first_line}"
        self._tokens, self._first_line = [], 0
        return Item(None, "", where, tokens) if tokens else None

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
        text, tokens, task = _fields(value, line, where)
        if tokens is not None:
            plain = tuple(map(self._without_surrogates, tokens))
            return Item(None, task, where, plain)
        return Item(self._without_surrogates(text), task, where)

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


def _fields(
    value: Any, line: str, where: str
) -> tuple[str, list[str] | None, str]:
    """Text, tokens and task of a JSON object; "" or None if not there."""
    known = value if isinstance(value, dict) else {}
    given = [key for key in ("text", "tokens") if key in known]
    if len(given) != 1:
        raise DataError(
            f'{where}: must be an object such as {{"text": "...", "task": '
            f'"..."}} or {{"tokens": ["...", ...], "task": "..."}}, got '
            f"{line[:80]}"
        )
    text, tokens = value.get("text", ""), value.get("tokens")
    task = value.get("task") or ""
    for field, content in (("text", text), ("task", task)):
        if not isinstance(content, str):
            raise DataError(
                f"{where}: {field} must be a string, got {content!r}"
            )
    if given == ["text"]:
        return text, None, task
    if not isinstance(tokens, list):
        raise DataError(
            f"{where}: tokens must be a list of strings, got {tokens!r:.80}"
        )
    for token in tokens:
        if not isinstance(token, str):
            raise DataError(f"{where}: a token must be a string, got {token!r}")
    return text, tokens, task


def _is_file(stream: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
