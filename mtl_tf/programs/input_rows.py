"""Input rows with named fields, and what of them is written out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.columns import column_value, has_column, keys_beside
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.csv_records import COMMA, checked_delimiter
from mtl_tf.programs.text_input import COLUMNS, Item

#: The input forms whose fields have names.
NAMED = ("jsonl", "csv", "tsv")


def parse_columns(arguments: Sequence[str], form: str) -> dict[str, str]:
    """Parses arguments of the form `field=column`.

    Args:
        arguments: the values of `--columns`.
        form: the form of the input.

    Returns:
        Field to column.

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
    """Parses the separator of csv cells or conll columns.

    Args:
        argument: the value of `--delimiter`, if given.
        form: the form of the input.

    Raises:
        ConfigError: it is not one character, or the input has another form.
    """
    if argument is None:
        return "" if form == "conll" else COMMA
    if form not in ("csv", "conll"):
        raise ConfigError(
            f"--delimiter is for csv and conll, and the input is read as "
            f"{form}: give --format=csv or --format=conll"
        )
    # A shell passes on a tab, as in messages on wrong headers, in this form.
    return checked_delimiter("--delimiter", argument.replace("\\t", "\t"))


def record(
    columns: Mapping[str, str],
    item: Item,
    example: Mapping[str, Any],
    prediction: Mapping[str, Any],
) -> dict[str, Any]:
    """A prediction after the fields of its row, under the row's names.

    Args:
        columns: field to column, for columns of another name.
        item: the input.
        example: the fields that the task read of it.
        prediction: the prediction, with the shown fields of the example.
    """
    if not item.row:
        return dict(prediction)
    others = {field for field, column in columns.items() if field != column}
    # Independent of the values, so that all rows have the same columns.
    read_as_named = {"task", *example} - others
    record: dict[str, Any] = {}
    for name, value in item.row.items():
        clashes = name in prediction and name not in read_as_named
        record[f"input_{name}" if clashes else name] = value
    renamed = set(example) & others
    added = {k: v for k, v in prediction.items() if k not in renamed}
    return {**record, **added}


def advice(
    item: Item,
    fields: Sequence[str],
    columns: Mapping[str, str],
    lists: Sequence[str] = (),
) -> str:
    """Advice if a task cannot read a row; "" for other inputs.

    Args:
        item: the input.
        fields: the fields of the task's examples.
        columns: field to column of the task's own files, for other names.
        lists: the fields that may hold a list of texts.
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
    for field in fields:
        names = (field, columns.get(field, field))
        name = next((name for name in names if has_column(item.row, name)), "")
        right = (str, list) if field in lists else str
        if name and not isinstance(column_value(item.row, name), right):
            value = json.dumps(column_value(item.row, name), ensure_ascii=False)
            return f"; {name} is {value:.60}, which is no text"
    flags = " ".join(f"--columns={field}=COLUMN" for field in fields)
    names = "names the one" if len(fields) == 1 else "name those"
    return (
        f"; the input has the fields {', '.join(item.row)} (in a table, its "
        f"first row): {flags} {names} to read"
    )


class EmptyTexts:
    """Counts examples with a text that has no letter."""

    def __init__(self):
        self.count, self.first = 0, ""

    def look(
        self,
        batch: Sequence[Item],
        fields: Sequence[Mapping[str, Any]],
        may_be_empty: Sequence[Sequence[str]],
    ) -> None:
        """Counts such examples in a batch.

        Args:
            batch: the inputs.
            fields: for each example its texts or tokens, by name.
            may_be_empty: for each example the names of texts that do not count.
        """
        for item, texts, optional in zip(batch, fields, may_be_empty):
            needed = [t for name, t in texts.items() if name not in optional]
            if not all("".join(text).strip() for text in needed):
                self.first = self.first or item.location
                self.count += 1

    def tell(self) -> None:
        """Logs the count."""
        if self.count:
            logging.warning(
                "Examples with an empty text: %d, the first at %s; their "
                "predictions rest on nothing that was read.",
                self.count,
                self.first,
            )
