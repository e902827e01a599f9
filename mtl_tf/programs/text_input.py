"""Reads texts from a file, a pipe or standard input in batches."""

import codecs
import dataclasses
import json
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from absl import logging

from mtl_tf.core import passes
from mtl_tf.core.columns import has_column, keys_beside, renamed
from mtl_tf.core.errors import DataError
from mtl_tf.datasets import json_lists, squad_files
from mtl_tf.datasets.column_rows import (
    CONLLU,
    PLAIN,
    ColumnLayout,
    ColumnRows,
    ColumnSentence,
)
from mtl_tf.datasets.csv_records import COMMA
from mtl_tf.datasets.sources import wide_encoding, wrong_encoding
from mtl_tf.programs.table_rows import TableRows

#: The forms with one token per line, with their default token columns.
COLUMNS = {"conll": PLAIN, "conllu": CONLLU}
FORMATS = ("text", "jsonl", "csv", "tsv", *COLUMNS)

_CHUNK = 1 << 16
# The first bytes of every gzip file; no text begins so.
_PACKED = b"\x1f\x8b\x08"


@dataclasses.dataclass(frozen=True)
class Item:
    """One example to predict.

    Attributes:
        fields: its given fields: "text", "tokens", or those of an object.
        task: its task's name, or "" if the input names none.
        location: `file:line`, for messages.
        is_line: whether "text" is a line of a text file, which may contain
            several texts.
        row: all input fields by their names there, if they have names.
        sentence: the lines of a sentence in a file of columns.
    """

    fields: dict[str, Any]
    task: str
    location: str
    is_line: bool = False
    row: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    sentence: ColumnSentence | None = None


class TextReader:
    """Reads lines of texts or JSON, tables, or sentences in columns.

    Lines end only at `\\n`. An empty line is a text, ends a sentence in
    columns, and is ignored in JSON. Lines that are not UTF-8 are read as
    Latin-1, as in files to train on, and counted.

    Args:
        stream: a binary stream with `read1`.
        name: its name in messages.
        form: the form of the input. `text`: a text a line. `jsonl`: a JSON
            object a line, such as `{"text": "a fine book", "task": "books"}` or
            `{"tokens": ["a", "fine", "book"], "task": "chunk"}`, with any
            fields of strings and lists of strings, where `task` is optional; or
            a single list of such objects, or an object in the form of SQuAD,
            which are held in memory. `csv` (RFC 4180) or `tsv` (without
            quotes): the first row names the columns, and spaces separate
            tokens. `conll`: columns, one of which holds the tokens
            (`-DOCSTART-` lines are skipped). `conllu`: CoNLL-U.
        columns: field to its name in such an object or header, if different.
        delimiter: the one character that separates csv cells.
        layout: the layout of columns, if not the form's default in `COLUMNS`.

    Attributes:
        undecodable: the number of lines read as Latin-1.
        replaced: the number of halves of surrogate pairs that became U+FFFD.
        lines: the number of lines read.
        columns: the given columns.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        form: str = "text",
        columns: Mapping[str, str] | None = None,
        delimiter: str = COMMA,
        layout: ColumnLayout | None = None,
    ):
        self._stream = stream
        self._name = name
        self._form = form
        self.columns = dict(columns or {})
        self._sentences = ColumnRows(name, layout or COLUMNS.get(form, PLAIN))
        self._table = TableRows(name, form, delimiter)
        self.undecodable = self.replaced = 0
        self.lines = 0

    @property
    def rest(self) -> list[str]:
        """The lines of columns after the last sentence, at the end of input."""
        return self._sentences.rest

    def tell(self) -> None:
        """Logs the lines that were no valid text."""
        if self.undecodable:
            logging.warning(
                "%s: lines that are not UTF-8, read as Latin-1: %d",
                self._name,
                self.undecodable,
            )
        if self.replaced:
            logging.warning(
                "%s: %d halves of surrogate pairs, which are no characters, "
                "became U+FFFD",
                self._name,
                self.replaced,
            )

    def batches(self, size: int) -> Iterator[list[Item]]:
        """Yields up to `size` texts at a time.

        A file gives full batches, and every 15 seconds a line in the log tells
        how far they are. A pipe or a terminal gives what has arrived, so that a
        writer gets an answer immediately.

        Raises:
            DataError: a line of JSON is wrong, or the text is in UTF-16 or
                compressed.
        """
        if not _is_file(self._stream):
            yield from self._batches(size, full=False)
            return
        whole = self._batches(size, full=True)
        yield from passes.logged(whole, f"{self._name}: read")

    def _batches(self, size: int, full: bool) -> Iterator[list[Item]]:
        waiting: list[Item] = []
        is_empty = True
        for items in self._arriving():
            for item in items:
                is_empty = False
                waiting.append(item)
                if len(waiting) == size:
                    yield waiting
                    waiting = []
            if waiting and not full:
                yield waiting
                waiting = []
        self._table.check_end()
        last = self._from_columns(self._sentences.sentence())
        waiting += [last] if last else []
        if waiting:
            yield waiting
        elif is_empty:
            logging.warning("%s has no texts: nothing is predicted", self._name)

    def _arriving(self) -> Iterator[Iterator[Item]]:
        """The examples in each piece that a read returns."""
        head = self._stream.read1(_CHUNK)
        if self._form == "jsonl" and squad_files.is_start(head):
            yield self._from_squad(head + self._stream.read())
            return
        if self._form == "jsonl" and json_lists.is_start(head):
            yield self._from_list(head + self._stream.read())
            return
        for lines in self._chunks(head):
            yield filter(None, map(self._item, lines))

    def _chunks(self, chunk: bytes) -> Iterator[list[bytes]]:
        """The complete lines in each piece that a read returns.

        Args:
            chunk: the first piece.
        """
        parts: list[bytes] = []
        while chunk:
            first, *rest = chunk.split(b"\n")
            parts.append(first)
            if rest:
                yield [b"".join(parts), *rest[:-1]]
                parts = [rest[-1]]
            chunk = self._stream.read1(_CHUNK)
        last = b"".join(parts)
        if last:
            yield [last]

    def _item(self, line: bytes) -> Item | None:
        """The example that a line completes, if any."""
        self.lines += 1
        location = f"{self._name}:{self.lines}"
        if self.lines == 1:
            if encoding := wide_encoding(line):
                raise DataError(wrong_encoding(self._name, encoding))
            if line.startswith(_PACKED):
                raise DataError(
                    f"{self._name}: packed by gzip: unpack it (gzip -dc), or "
                    "name a file that ends in .gz"
                )
            line = line.removeprefix(codecs.BOM_UTF8)
        if self._form in COLUMNS:
            line = self._decode(line)
            return self._from_columns(self._sentences.add(line, self.lines))
        if self._form == "csv":
            # A quoted cell keeps the end of a line within it.
            row = self._table.row(self._decode(line), self.lines)
            return self._from_row(*row) if row else None
        text = self._decode(line.removesuffix(b"\r"))
        if self._form == "text":
            return Item({"text": text}, "", location, is_line=True)
        if self._form == "jsonl":
            return self._from_json(text, location) if text.strip() else None
        row = self._table.row(text, self.lines)
        return self._from_row(*row) if row else None

    def _from_columns(self, sentence: ColumnSentence | None) -> Item | None:
        if sentence is None:
            return None
        tokens = self._sentences.tokens(sentence)
        location = f"{self._name}:{sentence.rows[0].line}"
        return Item({"tokens": tokens}, "", location, sentence=sentence)

    def _decode(self, line: bytes) -> str:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.undecodable += 1
            return line.decode("latin-1")

    def _from_json(self, line: str, location: str) -> Item:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{location}: not JSON: {error}; a line must hold one object"
            )
        return self._from_value(value, line, location)

    def _from_squad(self, content: bytes) -> Iterator[Item]:
        asked = squad_files.questions(self._name, content, answered=False)
        for location, row in asked:
            yield self._from_value(row, json.dumps(row), location)

    def _from_list(self, content: bytes) -> Iterator[Item]:
        for number, value in json_lists.elements(self._name, content):
            location = json_lists.place(self._name, number)
            yield self._from_value(value, json.dumps(value), location)

    def _from_value(self, value: Any, line: str, location: str) -> Item:
        row = self._plain(value) if isinstance(value, dict) else {}
        fields, task = _fields(self._named(row, location), line, location)
        return Item(fields, task, location, row=row)

    def _from_row(self, row: dict[str, str], location: str) -> Item:
        renamed: dict[str, Any] = self._named(row, location)
        if isinstance(renamed.get("tokens"), str):
            renamed["tokens"] = renamed["tokens"].split()
        line = "\t".join(row.values())
        fields, task = _fields(renamed, line, location)
        return Item(fields, task, location, row=row)

    def _named(self, row: Mapping[str, Any], location: str) -> dict[str, Any]:
        """The fields of a row by the names that tasks use."""
        for field, column in self.columns.items():
            if not has_column(row, column):
                raise DataError(
                    f"{location}: no field {column!r}, which --columns names "
                    f"for {field}; {keys_beside(row, column)}"
                )
        return renamed(row, self.columns)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._without_surrogates(value)
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, dict):
            return {self._plain(k): self._plain(v) for k, v in value.items()}
        return value

    def _without_surrogates(self, text: str) -> str:
        # JSON can contain half a surrogate pair, which is no character.
        halves = sum("\ud800" <= letter <= "\udfff" for letter in text)
        if not halves:
            return text
        self.replaced += halves
        return "".join(
            "\ufffd" if "\ud800" <= letter <= "\udfff" else letter
            for letter in text
        )


def _fields(value: Any, line: str, location: str) -> tuple[dict[str, Any], str]:
    """The fields of a JSON object besides its task, and the task or "".

    Fields other than strings, objects and lists of these are left out.
    Objects are kept, as a task may read their content.
    """
    record = value if isinstance(value, dict) else {}
    task = record.get("task") or ""
    if not isinstance(task, str):
        raise DataError(f"{location}: task must be a string, got {task!r}")
    for name, is_right, rule in _RULES:
        value = record.get(name, {})
        # An object may contain what the task reads.
        if not isinstance(value, dict) and not is_right(value):
            raise DataError(
                f"{location}: {name} must be {rule}, got {value!r:.80}"
            )
    fields = {
        name: content
        for name, content in record.items()
        if name != "task" and _is_read(content)
    }
    if not fields or {"text", "tokens"} <= set(fields):
        raise DataError(
            f'{location}: must be an object such as {{"text": "...", "task": '
            f'"..."}} or {{"tokens": ["...", ...], "task": "..."}}, got '
            f"{line[:80]}"
        )
    return fields, task


def _is_read(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(item, (str, dict)) for item in values)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_string, value))


def _are_tokens(value: Any) -> bool:
    return _are_strings(value) and "" not in value


_RULES = (
    ("text", _is_string, "a string"),
    ("tokens", _are_tokens, "a list of strings that are not empty"),
)


def _is_file(stream: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
