"""Execution accuracy of WikiSQL: the results of queries on their tables."""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from mtl_tf.evaluation import logical_forms
from mtl_tf.evaluation.logical_forms import LogicalForm

_Cell = str | float | None


def execute(
    form: LogicalForm, rows: Sequence[Sequence[Any]]
) -> list[_Cell] | None:
    """Runs a query on a table in SQLite, as the official scorer does.

    Cells are compared as by `logical_forms.value_of`: a cell with a text of
    digits is also a number.

    Args:
        form: the query.
        rows: the table's cells, equally many in each row.

    Returns:
        The resulting cells, in the order of the rows; None if SQLite fails.
    """
    width = max([1 + form.sel, *map(len, rows)])
    width = max([width, *(1 + column for column, _, _ in form.conds)])
    names = [f"c{number}" for number in range(width)]
    cells = [
        [_cell(value) for value in row] + [None] * (width - len(row))
        for row in rows
    ]
    # Untyped columns keep numbers and texts as they are.
    slots = ", ".join("?" * width)
    aggregate = logical_forms.AGGREGATES[form.agg]
    query = f"SELECT {aggregate}({names[form.sel]}) FROM t"
    conds = list(form.conds)
    tests = [f"{names[c]} {logical_forms.OPERATORS[o]} ?" for c, o, _ in conds]
    if tests:
        query += f" WHERE {' AND '.join(tests)}"
    try:
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute(f"CREATE TABLE t ({', '.join(names)})")
            database.executemany(f"INSERT INTO t VALUES ({slots})", cells)
            values = [_cell(value) for _, _, value in conds]
            return [cell for (cell,) in database.execute(query, values)]
    # SQLite cannot take texts that are not valid Unicode.
    except (sqlite3.Error, UnicodeEncodeError):
        return None


def same(text: str, reference: str, scoring: Mapping[str, Any]) -> bool:
    """Whether a query has the same result as the right query.

    A wrong query may have it by chance. A query that is right as a logical form
    always has it.

    Args:
        text: any text; a text that is no query is wrong.
        reference: the right query as a text.
        scoring: see `logical_forms.gold`; also "rows", lists of cells.

    Raises:
        ValueError: something is missing.
    """
    check(scoring)
    if logical_forms.same(text, reference, scoring):
        return True
    form = logical_forms.parse(text, scoring["header"])
    if form is None:
        return False
    answer = execute(logical_forms.gold(scoring), scoring["rows"])
    return answer is not None and execute(form, scoring["rows"]) == answer


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


def _cell(value: Any) -> _Cell:
    return None if value is None else _bound(logical_forms.value_of(value))


def _bound(value: str | Decimal) -> str | float:
    return float(value) if isinstance(value, Decimal) else value
