"""Writes records as csv or tsv, with columns known only at the end."""

import csv
import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from absl import logging

from mtl_tf.core import strict_json

FORMS = ("csv", "tsv")


class RecordTable:
    """Collects records, and writes them when all fields are known.

    Records are kept in an unnamed file, not in memory. A mapping becomes a
    column for each of its keys (`scores.positive`), a list becomes JSON. A
    missing field is an empty cell.

    Args:
        form: "csv", quoted as in RFC 4180; or "tsv", without quotes: tabs and
            line breaks within a cell become spaces.

    Attributes:
        altered: the number of cells that lost tabs or line breaks.
    """

    def __init__(self, form: str):
        self._form = form
        # It stays open as long as the table, which closes it.
        self._records = tempfile.TemporaryFile(  # noqa: SIM115
            "w+", encoding="utf-8"
        )
        self._names: dict[str, None] = {}
        self.altered = 0

    def __enter__(self) -> "RecordTable":
        return self

    def __exit__(self, *_: Any) -> None:
        self._records.close()

    def add(self, record: Mapping[str, Any]) -> None:
        """Adds a record of plain values."""
        flat = dict(_flat(record))
        self._names.update(dict.fromkeys(flat))
        self._records.write(json.dumps(flat) + "\n")

    def write(self, output: BinaryIO) -> None:
        """Writes a header and the records; nothing without records."""
        if not self._names:
            return
        self._records.seek(0)
        output.write(self._line(list(self._names)))
        for line in self._records:
            record = json.loads(line)
            output.write(self._line([record.get(n, "") for n in self._names]))

    def tell_altered(self) -> None:
        """Logs the number of altered cells."""
        if self.altered:
            logging.warning(
                "%d cells had tabs or line ends, which tsv cannot hold: they "
                "became spaces. csv and jsonl keep them.",
                self.altered,
            )

    def _line(self, cells: list[str]) -> bytes:
        if self._form == "tsv":
            return ("\t".join(map(self._without_tabs, cells)) + "\n").encode()
        line = io.StringIO()
        # Only cells with a character of the line's end are quoted for it.
        csv.writer(line, lineterminator="\r\n").writerow(cells)
        return (line.getvalue().removesuffix("\r\n") + "\n").encode()

    def _without_tabs(self, cell: str) -> str:
        plain = cell.replace("\r\n", " ")
        for letter in "\t\r\n":
            plain = plain.replace(letter, " ")
        self.altered += plain != cell
        return plain


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield f"{name}.{key}", _cell(item)
        else:
            yield name, _cell(value)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = strict_json.dumps(value)
    return "" if text == "null" else text
