"""WikiSQL queries as logical forms, and a test whether two are equal.

A query selects one column, perhaps aggregated, from one table, where all
conditions must hold (Zhong et al. 2017). Its text is

    SELECT [AGGREGATE] column FROM table [WHERE column = value [AND ...]]

with the column names of the table's header.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

#: In WikiSQL's numbering; the first is no aggregation.
AGGREGATES = ("", "max", "min", "count", "sum", "avg")
#: In WikiSQL's numbering; its fourth, "OP", occurs in no example.
OPERATORS = ("=", ">", "<")
_FIELDS = ("header", "sel", "agg", "conds")
_QUOTES = "\"'`"
# `Decimal` cannot hold a number whose exponent has many digits.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?")


class LogicalForm(NamedTuple):
    """The meaning of a query.

    Attributes:
        sel: the number of the selected column.
        agg: the aggregate's number in `AGGREGATES`.
        conds: (column, operator, value) of each condition. Order and
            repetitions do not matter, as the official scorer compares sets. A
            value is a number if it is one in the file, else a text; `agree`
            compares them.
    """

    sel: int
    agg: int
    conds: frozenset[tuple[int, int, str | Decimal]]


def gold(scoring: Mapping[str, Any]) -> LogicalForm:
    """The right query of an example.

    Args:
        scoring: has "header", the column names; "sel" and "agg", numbers;
            "conds", lists of a column number, an operator number and a value.

    Raises:
        ValueError: one of these is missing or malformed.
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
    """Parses a query. Case and spacing do not matter.

    Column names and values may be quoted, and an aggregate's column may be in
    parentheses. If a text is ambiguous, the longest matching name is taken, and
    an "and" separates conditions wherever a column and an operator follow.
    Columns of equal names cannot be distinguished in a text; they all count as
    the first one.

    Args:
        text: the query.
        header: the table's column names.

    Returns:
        The logical form, or None if the text is no such query.
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
    """Whether a text means the same as the right query.

    The reference text itself always does. Without this rule it might not if it
    is ambiguous, for example if a value contains " and " and then a column and
    an operator.

    Args:
        text: any text; a text that is no query is wrong.
        reference: the right query as a text.
        scoring: the right query; see `gold`.

    Raises:
        ValueError: see `gold`.
    """
    reference_form = gold(scoring)
    if normal(text) == normal(reference):
        return True
    form = parse(text, scoring["header"])
    return form is not None and agree(form, reference_form)


def agree(form: LogicalForm, reference: LogicalForm) -> bool:
    """Whether a parsed query means the same as the right one.

    If the right value is a number, values are compared as numbers, else as
    texts: then "007" is not 7, nor "5.0" 5.
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
    """A value as a number if its text is one, else as a text.

    Numbers are compared by value ("5" equals 5.0), texts as by `text_of`.
    """
    text = text_of(value)
    # `Decimal` also parses texts such as "nan" or "1_000".
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def text_of(value: Any) -> str:
    """A value as a text, without case, extra spaces and outer quotes."""
    text = normal(value)
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        text = text[1:-1].strip()
    return text


def normal(value: Any) -> str:
    """A value as a text in lower case, with single spaces."""
    return " ".join(str(value).lower().split())


def _gold_value(value: Any) -> str | Decimal:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value_of(value) if is_number else text_of(value)


def _names(header: Sequence[str]) -> list[str]:
    return [normal(name) for name in header]


def _first(names: Sequence[str], number: int) -> int:
    """The number of the first column with the same name."""
    if number < 0:
        raise IndexError(f"no column {number}")
    return names.index(names[number])


def _check_numbers(name: str, numbers: Sequence[int], end: int) -> None:
    if not set(numbers) <= set(range(end)):
        raise ValueError(f"{name} must be from 0 to {end - 1}, got {numbers}")


def _number(names: Sequence[str], text: str) -> int:
    """The number of the column of this name, which may be quoted."""
    return names.index(text if text in names else text[1:-1].strip())


def _column_pattern(names: Sequence[str]) -> str:
    """A pattern of column names, quoted or not; long names first."""
    known = sorted({name for name in names if name}, key=len, reverse=True)
    any_name = "|".join(map(re.escape, known)) or "(?!)"
    quoted = "|".join(f"{q} ?(?:{any_name}) ?{q}" for q in _QUOTES)
    return f"(?:{any_name}|{quoted})"


def _conditions(
    text: str | None, column: str, names: Sequence[str]
) -> list[tuple[int, int, str]] | None:
    """The conditions after "where"; None if the text has other content."""
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
