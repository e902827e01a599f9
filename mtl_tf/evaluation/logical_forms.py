"""SQL queries of WikiSQL as logical forms, and when two of them are the same.

A query is one column, perhaps aggregated, of one table, under conditions
that must all hold (Zhong et al. 2017). As a text it is

    SELECT [AGGREGATE] column FROM table [WHERE column = value [AND ...]]

with names of columns as they stand in the table's header.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

#: As WikiSQL numbers them; the first is no aggregation.
AGGREGATES = ("", "max", "min", "count", "sum", "avg")
#: As WikiSQL numbers them; its fourth, "OP", stands in no example.
OPERATORS = ("=", ">", "<")
_FIELDS = ("header", "sel", "agg", "conds")
_QUOTES = "\"'`"
# An exponent of many digits is no number that `Decimal` can hold.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?")


class LogicalForm(NamedTuple):
    """What a query says.

    Attributes:
        sel: number of the column that is selected.
        agg: number of the aggregate in `AGGREGATES`.
        conds: (column, operator, value) of each condition; order and
            repetitions do not count, as in the official scorer, which
            compares sets. A value is a number where a file has one, else a
            text: `agree` says when a text is a number's.
    """

    sel: int
    agg: int
    conds: frozenset[tuple[int, int, str | Decimal]]


def gold(scoring: Mapping[str, Any]) -> LogicalForm:
    """The right query.

    Args:
        scoring: has "header", the names of the columns; "sel" and "agg",
            numbers; "conds", lists of a column's number, an operator's number
            and a value.

    Raises:
        ValueError: one of these is missing or not of that form.
    """
    try:
        header, sel, agg, triples = (scoring[name] for name in _FIELDS)
        names = _names(header)
        conds = [
            (_first(names, int(column)), int(operator), _gold_value(value))
            for column, operator, value in triples
        ]
        sel, agg = _first(names, int(sel)), int(agg)
        _check_numbers("agg", [agg], len(AGGREGATES))
        _check_numbers("operators", [cond[1] for cond in conds], len(OPERATORS))
        return LogicalForm(sel, agg, frozenset(conds))
    except KeyError as error:
        raise ValueError(
            "scoring of a query must have header, sel, agg and conds, found "
            f"no {error.args[0]}"
        )
    except (IndexError, TypeError, ValueError, OverflowError) as error:
        fields = {name: scoring[name] for name in _FIELDS}
        raise ValueError(
            "scoring of a query must have header, sel, agg and conds of "
            f"numbers in range, found {fields!r:.200}: {error}"
        )


def parse(text: str, header: Sequence[str]) -> LogicalForm | None:
    """Reads a query. Case and spacing do not count.

    Names of columns and values may stand in quotes, and the column of an
    aggregate in brackets. Where a text can be read in several ways, a name
    is the longest that fits, and an "and" divides conditions wherever a
    column and an operator follow. Columns of the same name cannot be told
    apart in a text: they all count as the first of them.

    Args:
        text: the query.
        header: names of the table's columns.

    Returns:
        What it says; None if it is not such a query.
    """
    names = _names(header)
    column = _column_pattern(names)
    aggregate = "|".join(AGGREGATES[1:])
    argument = rf" ?\( ?(?P<of>{column}) ?\)| (?P<on>{column})"
    match = re.fullmatch(
        rf"select (?:(?P<plain>{column})|(?P<agg>{aggregate})(?:{argument}))"
        r" from [^ ]+(?: where (?P<conds>.+))?",
        normal(text),
    )
    if not match:
        return None
    conds = _conditions(match["conds"], column, names)
    if conds is None:
        return None
    name = match["plain"] or match["of"] or match["on"]
    return LogicalForm(
        _number(names, name),
        AGGREGATES.index(match["agg"] or ""),
        frozenset(conds),
    )


def same(text: str, reference: str, scoring: Mapping[str, Any]) -> bool:
    """Whether a text says the same as the right query.

    The reference itself always does. Without this rule it might not where
    its text can be read in several ways, such as a value with " and " that is
    followed by a column and an operator.

    Args:
        text: any text; what is no query is wrong.
        reference: the right query as a text.
        scoring: the right query, see `gold`.

    Raises:
        ValueError: see `gold`.
    """
    reference_form = gold(scoring)
    if normal(text) == normal(reference):
        return True
    form = parse(text, scoring["header"])
    return form is not None and agree(form, reference_form)


def agree(form: LogicalForm, reference: LogicalForm) -> bool:
    """Whether a query that was read says the same as the right one.

    Values are compared as numbers where the right one is a number, and else
    as texts: "007" is not 7, nor "5.0" 5.
    """

    def fits(cond, right):
        value = cond[2]
        if isinstance(right[2], Decimal):
            value = value_of(value)
        return cond[:2] == right[:2] and value == right[2]

    conds, expected = form.conds, reference.conds
    return (
        (form.sel, form.agg) == (reference.sel, reference.agg)
        and all(any(fits(cond, right) for right in expected) for cond in conds)
        and all(any(fits(cond, right) for cond in conds) for right in expected)
    )


def value_of(value: Any) -> str | Decimal:
    """A value that is a number if its text is one.

    Numbers are equal as numbers, "5" and 5.0; texts as `text_of` has them.
    """
    text = text_of(value)
    # Texts such as "nan" or "1_000", which `Decimal` reads too, are texts.
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def text_of(value: Any) -> str:
    """A value as a text, without case, spacing and quotes around it."""
    text = normal(value)
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        text = text[1:-1].strip()
    return text


def normal(value: Any) -> str:
    """In lower case, with single spaces."""
    return " ".join(str(value).lower().split())


def _gold_value(value: Any) -> str | Decimal:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value_of(value) if is_number else text_of(value)


def _names(header: Sequence[str]) -> list[str]:
    return [normal(name) for name in header]


def _first(names: Sequence[str], number: int) -> int:
    """The first column that is called like this one."""
    if number < 0:
        raise IndexError(f"no column {number}")
    return names.index(names[number])


def _check_numbers(name: str, numbers: Sequence[int], end: int) -> None:
    if not set(numbers) <= set(range(end)):
        raise ValueError(f"{name} must be from 0 to {end - 1}, got {numbers}")


def _number(names: Sequence[str], text: str) -> int:
    """The column of a name that may stand in quotes."""
    return names.index(text if text in names else text[1:-1].strip())


def _column_pattern(names: Sequence[str]) -> str:
    """Matches a column's name, bare or in quotes; long names first."""
    known = sorted({name for name in names if name}, key=len, reverse=True)
    any_name = "|".join(map(re.escape, known)) or "(?!)"
    quoted = "|".join(f"{q} ?(?:{any_name}) ?{q}" for q in _QUOTES)
    return f"(?:{any_name}|{quoted})"


def _conditions(
    text: str | None, column: str, names: Sequence[str]
) -> list[tuple[int, int, str]] | None:
    """What stands behind "where"; None if that is not conditions."""
    if text is None:
        return []
    operators = "".join(OPERATORS)
    head = f"{column} ?[{operators}]"
    conds = []
    for clause in re.split(f" and (?={head})", text):
        match = re.fullmatch(f"({column}) ?([{operators}]) ?(.+)", clause)
        if not match:
            return None
        operator = OPERATORS.index(match[2])
        conds.append((_number(names, match[1]), operator, text_of(match[3])))
    return conds
