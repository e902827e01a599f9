"""WikiSQL from its files of JSON lines: questions and tables."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.json_values import JsonValue, read_json_lines
from mtl_tf.datasets.lines import LineFile, Oddities, count
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder

QUESTION = "What is the translation from English to SQL?"
# In the numbering of the files.
AGGREGATES = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
OPERATORS = ("=", ">", "<", "OP")
# "OP" occurs only in contexts; in a query it has no meaning.
_SCORED_OPERATORS = 3
# What the contexts of McCann et al. contain besides the columns.
_SYMBOLS = (
    *("SELECT", "WHERE", "AND", "COL", "TABLE", "CAPTION", "PAGE", "SECTION"),
    *("OP", "COND", "QUESTION", "AGG", "AGGOPS", "CONDOPS"),
)
_KEY_WORDS = ", ".join([*AGGREGATES[1:], *OPERATORS, *_SYMBOLS])

_TYPES = ("text", "real")
_CELL = str | int | float | None

Condition = list[Any]  # column, operator, value


class _Table(NamedTuple):
    """A table; its rows and its columns' types are None if files lack them."""

    header: list[str]
    rows: list[list[Any]] | None
    types: list[str] | None


class Builder(QuestionAnswerBuilder):
    """Builds WikiSQL: train, validation (the official dev) and test."""

    # 1.1.0 adds the rows of the tables, 1.2.0 the types of their columns.
    VERSION = tfds.core.Version("1.2.0")
    FOLDERS = ("wikisql",)
    LAYOUT = ("data",)
    FILES = {
        split: (f"{name}.jsonl", f"{name}.tables.jsonl")
        for split, name in (
            ("train", "train"),
            ("validation", "dev"),
            ("test", "test"),
        )
    }
    COUNTS = {"train": 56_355, "validation": 8421, "test": 15_878}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put train.jsonl and train.tables.jsonl, dev.jsonl and dev.tables.jsonl,
    test.jsonl and test.tables.jsonl of the official data.tar.bz2, packed (.gz)
    or not, into manual_dir/wikisql/ or into manual_dir itself. See the README
    beside this builder.
    """

    def read_split(
        self, split: str, files: Sequence[LineFile]
    ) -> list[QuestionAnswer]:
        """The questions, each with its table's columns and rows."""
        del split
        file, table_file = files
        tables = _tables(table_file)
        odd, rows = Oddities(file), []
        for number, line in read_json_lines(file):
            name = line.get("table_id", str)
            table = tables.get(name.value)
            if table is None:
                raise name.wrong(f"the id of a table of {table_file.path}")
            header = table.header
            text = line.get("question", str).value
            form = _logical_form(line.get("sql", dict), header)
            if not text.strip():
                odd.add("question", "without a text, left out", number)
                continue
            scoring = {"header": header, **form}
            if table.rows is not None:
                # All questions on a table share one list, as copies would be
                # large.
                scoring["rows"] = table.rows
                if table.types is not None:
                    scoring["types"] = table.types
            rows.append(
                QuestionAnswer(
                    QUESTION,
                    _context(header, text),
                    (sql(header, form),),
                    f"{file.name}:{number}",
                    scoring,
                )
            )
        odd.report()
        return rows


def sql(header: Sequence[str], form: dict[str, Any]) -> str:
    """The text of a query in the form of McCann et al. (2018).

    Args:
        header: the table's column names.
        form: the logical form: `sel`, `agg` and `conds`, as in the files.

    Returns:
        For example "SELECT MAX Year FROM table WHERE Team = Reds AND Wins > 3",
        with single spaces; values are not quoted.
    """
    aggregate, column = AGGREGATES[form["agg"]], header[form["sel"]]
    text = f"SELECT {aggregate} {column} FROM table"
    conditions = [
        f"{header[number]} {OPERATORS[operator]} {value}"
        for number, operator, value in form["conds"]
    ]
    if conditions:
        text += " WHERE " + " AND ".join(conditions)
    return " ".join(text.split())


def _context(header: Sequence[str], question: str) -> str:
    return (
        f"The table has columns {', '.join(header)} and key words {_KEY_WORDS} "
        f"-- {question.strip()}"
    )


def _tables(file: LineFile) -> dict[str, _Table]:
    """The tables by id; either all or none have rows."""
    odd, tables, bare = Oddities(file), {}, []
    for number, table in read_json_lines(file):
        name = table.get("id", str)
        header = [n.value for n in table.get("header", list).items(str)]
        if not header:
            raise table.get("header", list).wrong("the names of the columns")
        rows = types = None
        if "rows" in table.value:
            rows = _rows(table)
            if "types" in table.value:
                types = _types(table, header)
        else:
            bare.append(number)
        new = _Table(header, rows, types)
        if tables.setdefault(name.value, new) != new:
            raise DataError(
                f"{name.location}: another table has the id {name.value!r} and "
                "other columns or rows: an id must name one table"
            )
        if not all(column.strip() for column in header):
            odd.add("table", "with a column without a name, kept", number)
    odd.report()
    if any(table.rows is not None for table in tables.values()) and bare:
        # A score of only some questions would be taken for that of all.
        file.warn(
            f"{count(len(bare), 'table')} without rows (first: line "
            f"{bare[0]}), so no rows are kept: execution accuracy needs all"
        )
        tables = {name: t._replace(rows=None) for name, t in tables.items()}
    return tables


def _types(table: JsonValue, header: Sequence[str]) -> list[str]:
    """What each column holds."""
    types = table.get("types", list)
    if len(types.value) != len(header):
        raise types.wrong(f"a list of {len(header)}, one for each column")
    for kind in types.items(str):
        if kind.value not in _TYPES:
            raise kind.wrong(f"one of {', '.join(_TYPES)}")
    return types.value


def _rows(table: JsonValue) -> list[list[Any]]:
    """The cells of a table: texts, numbers and None."""
    rows = []
    for row in table.get("rows", list).items(list):
        if not all(isinstance(cell, _CELL) for cell in row.value):
            raise row.wrong("a list of texts and numbers")
        rows.append(row.value)
    return rows


def _logical_form(form: JsonValue, header: Sequence[str]) -> dict[str, Any]:
    return {
        "sel": _index(form.get("sel", int), len(header), "column"),
        "agg": _index(form.get("agg", int), len(AGGREGATES), "aggregate"),
        "conds": [
            _condition(node, header)
            for node in form.get("conds", list).items(list)
        ],
    }


def _condition(node: JsonValue, header: Sequence[str]) -> Condition:
    if len(node.value) != 3:
        raise node.wrong("three things: a column, an operator and a value")
    column, operator, value = node.items()
    if isinstance(value.value, str):
        value.check(str)
    elif not _is_number(value.value):
        raise value.wrong("a text or a number")
    return [
        _index(column.check(int), len(header), "column"),
        _index(operator.check(int), _SCORED_OPERATORS, "operator"),
        value.value,
    ]


def _is_number(value: Any) -> bool:
    """Whether it is a number of JSON; Python's `json` also reads NaN."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _index(node: JsonValue, size: int, noun: str) -> int:
    if not 0 <= node.value < size:
        raise node.wrong(f"the number of {_article(noun)}, 0 to {size - 1}")
    return node.value


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
