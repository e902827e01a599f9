"""Execution accuracy of WikiSQL: the results of queries on their tables."""

import contextlib
import re
import sqlite3
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mtl_tf.evaluation.metrics import logical_forms
from mtl_tf.evaluation.metrics.logical_forms import LogicalForm

#: The types of a table's columns: texts, and numbers.
TYPES = ("text", "real")
_Cell = str | float | None
# What the official scorer takes of a text that is no number.
_NUMBER = re.compile(r"[-+]?[0-9]*\.[0-9]+|[0-9]+")


def execute(
    form: LogicalForm,
    rows: Sequence[Sequence[Any]],
    types: Sequence[str] | None = None,
) -> list[_Cell] | None:
    """Runs a query on a table in SQLite, as the official scorer does.

    In a column of numbers ("real"), a value of the query is a number, also if
    it is a text such as "24,637" or "10 km". In a column of texts, numbers are
    texts, too. Without types, cells are compared as by
    `logical_forms.value_of`: a cell with a text of digits is also a number.

    Args:
        form: the query.
        rows: the table's cells, equally many in each row.
        types: of `TYPES`, one for each column; None if they are not known.

    Returns:
        The resulting cells, in the order of the rows; None if SQLite fails, or
        a column of numbers is compared with a text without any.
    """
    width = max([1 + form.sel, *map(len, rows)])
    width = max([width, *(1 + column for column, _, _ in form.conds)])
    known = list(types or [])
    # Untyped columns keep numbers and texts as they are.
    kinds = known + [""] * (width - len(known))
    names = [f"c{number}" for number in range(width)]
    cells = [
        [_cell(value, kind) for value, kind in zip(row, kinds)]
        + [None] * (width - len(row))
        for row in rows
    ]
    slots = ", ".join("?" * width)
    aggregate = logical_forms.AGGREGATES[form.agg]
    query = f"SELECT {aggregate}({names[form.sel]}) FROM t"
    conds = list(form.conds)
    tests = [f"{names[c]} {logical_forms.OPERATORS[o]} ?" for c, o, _ in conds]
    if tests:
        query += f" WHERE {' AND '.join(tests)}"
    columns = ", ".join(map(" ".join, zip(names, kinds)))
    try:
        values = [_compared(value, kinds[column]) for column, _, value in conds]
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute(f"CREATE TABLE t ({columns})")
            database.executemany(f"INSERT INTO t VALUES ({slots})", cells)
            return [cell for (cell,) in database.execute(query, values)]
    # SQLite cannot take texts that are not valid Unicode.
    except (sqlite3.Error, UnicodeEncodeError, _NoNumber):
        return None


def same(text: str, reference: str, scoring: Mapping[str, Any]) -> bool:
    """Whether a query has the same result as the right query.

    A wrong query may have it by chance. A query that is right as a logical form
    always has it.

    Args:
        text: any text; a text that is no query is wrong.
        reference: the right query as a text.
        scoring: see `logical_forms.gold`; also "rows", lists of cells, and
            optionally "types", see `execute`.

    Raises:
        ValueError: something is missing.
    """
    check(scoring)
    if logical_forms.same(text, reference, scoring):
        return True
    form = logical_forms.parse(text, scoring["header"])
    if form is None:
        return False
    table = scoring["rows"], scoring.get("types")
    answer = execute(logical_forms.gold(scoring), *table)
    return answer is not None and execute(form, *table) == answer


def check(scoring: Mapping[str, Any]) -> None:
    """Raises `ValueError` if `same` cannot run the right query."""
    rows = scoring.get("rows")
    if not isinstance(rows, list | tuple) or not all(
        isinstance(row, list | tuple) for row in rows
    ):
        raise ValueError(
            "scoring of a query's results must have rows, lists of cells, "
            f"found {rows!r:.60}"
        )
    logical_forms.gold(scoring)
    types, count = scoring.get("types"), len(scoring["header"])
    if types is not None and (
        not isinstance(types, list | tuple)
        or len(types) != count
        or not all(kind in TYPES for kind in types)
    ):
        raise ValueError(
            f"types of a table's {count} columns must be a list of {count}, "
            f"each of {', '.join(TYPES)}, found {types!r:.60}"
        )


class _NoNumber(ValueError):
    """A text for a column of numbers has none."""


def _cell(value: Any, kind: str) -> _Cell:
    """A table's cell as it is stored; SQLite converts it to the type."""
    if value is None:
        return None
    if kind == "text":
        return logical_forms.text_of(value)
    return _bound(logical_forms.value_of(value))


def _compared(value: Any, kind: str) -> str | float:
    """A query's value as it is compared with a column of this type."""
    if kind == "text":
        return logical_forms.text_of(value)
    value = logical_forms.value_of(value)
    if kind == "real" and isinstance(value, str):
        value = logical_forms.value_of(value.replace(",", ""))
        if isinstance(value, str):
            found = _NUMBER.search(value)
            if not found:
                raise _NoNumber(value)
            value = Decimal(found[0])
    return _bound(value)


def _bound(value: str | Decimal) -> str | float:
    return float(value) if isinstance(value, Decimal) else value
