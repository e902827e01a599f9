"""Rows of named fields that are read, and what of them is passed on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.columns import has_column, keys_beside
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.csv_records import COMMA, checked_delimiter
from mtl_tf.programs.text_input import COLUMNS, Item

#: The forms of input whose fields have names.
NAMED = ("jsonl", "csv", "tsv")


def parse_columns(arguments: Sequence[str], form: str) -> dict[str, str]:
    """Reads arguments of the form `field=column`.

    Args:
        arguments: what was given as `--columns`.
        form: of the input.

    Returns:
        Columns by field.

    Raises:
        ConfigError: an argument has another form or repeats a field, or the
            input has no columns.
    """
    columns: dict[str, str] = {}
    for argument in arguments:
        field, equals, column = argument.partition("=")
        if not (field and equals and column):
            raise ConfigError(
                f"--columns must be FIELD=COLUMN, got {argument!r}"
            )
        if field in columns:
            raise ConfigError(f"--columns names the field {field} twice")
        columns[field] = column
    if columns and form not in (*NAMED, *COLUMNS):
        raise ConfigError(
            f"--columns is for {', '.join((*NAMED, *COLUMNS))}, and the input "
            f"is read as {form}: give --format"
        )
    return columns


def parse_delimiter(argument: str | None, form: str) -> str:
    """What stands between the cells of csv, or the columns of conll.

    Args:
        argument: what was given as `--delimiter`, if it was.
        form: of the input.

    Raises:
        ConfigError: it is not one character, or the input is neither.
    """
    if argument is None:
        return "" if form == "conll" else COMMA
    if form not in ("csv", "conll"):
        raise ConfigError(
            f"--delimiter is for csv and conll, and the input is read as "
            f"{form}: give --format=csv or --format=conll"
        )
    # What a shell passes on of the message of a wrong header.
    return checked_delimiter("--delimiter", argument.replace("\\t", "\t"))


def record(
    columns: Mapping[str, str],
    item: Item,
    example: Mapping[str, Any],
    prediction: Mapping[str, Any],
) -> dict[str, Any]:
    """A prediction behind what its row has, under the row's own names.

    Args:
        columns: by field its column, where that has another name.
        item: what was read.
        example: what the task took of it.
        prediction: for it, with what is shown of the example.
    """
    if not item.row:
        return dict(prediction)
    others = {field for field, column in columns.items() if field != column}
    # Whatever the values, so that all rows have the same columns.
    read_as_named = {"task", *example} - others
    record: dict[str, Any] = {}
    for name, value in item.row.items():
        clashes = name in prediction and name not in read_as_named
        record[f"input_{name}" if clashes else name] = value
    renamed = set(example) & others
    added = {k: v for k, v in prediction.items() if k not in renamed}
    return {**record, **added}


def advice(
    item: Item, fields: Sequence[str], columns: Mapping[str, str]
) -> str:
    """What may help where a task cannot take a row; "" of other inputs.

    Args:
        item: what was read.
        fields: of the task's examples.
        columns: by field that of the task's own files, of another name.
    """
    if not item.row:
        return ""
    for field in fields:
        column = columns.get(field, field)
        inside = column.partition(".")[0] in item.row
        if inside and not has_column(item.row, column):
            return (
                f"; no {column!r}, which is {field} in the task's own files; "
                f"{keys_beside(item.row, column)}"
            )
    wrong = [
        name
        for name in fields
        if name in item.row and isinstance(item.fields.get(name, {}), Mapping)
    ]
    if wrong:
        value = json.dumps(item.row[wrong[0]], ensure_ascii=False)
        return f"; {wrong[0]} is {value:.60}, which is no text"
    flags = " ".join(f"--columns={field}=COLUMN" for field in fields)
    names = "names the one" if len(fields) == 1 else "name those"
    return (
        f"; the input has the fields {', '.join(item.row)}: {flags} {names} to "
        "read"
    )


class EmptyTexts:
    """Counts examples with a text that has no letter in it."""

    def __init__(self):
        self.count, self.first = 0, ""

    def look(
        self,
        batch: Sequence[Item],
        fields: Sequence[Mapping[str, Any]],
        may_be_empty: Sequence[Sequence[str]],
    ) -> None:
        """Looks at examples and what their tasks took of them.

        Args:
            batch: what was read.
            fields: of each example its texts, or tokens, by name.
            may_be_empty: of each example the names of those that count not.
        """
        for item, texts, optional in zip(batch, fields, may_be_empty):
            needed = [t for name, t in texts.items() if name not in optional]
            if not all("".join(text).strip() for text in needed):
                self.first = self.first or item.location
                self.count += 1

    def tell(self) -> None:
        """Logs how many there were."""
        if self.count:
            logging.warning(
                "Examples with an empty text: %d, the first at %s; their "
                "predictions rest on nothing that was read.",
                *(self.count, self.first),
            )
