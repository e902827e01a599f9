"""Columns of rows, which in JSON may be keys of nested objects.

A column such as `translation.en` is the key `en` of the object under
`translation`. A key with exactly that name takes precedence.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from mtl_tf.core.errors import DataError
from mtl_tf.core.names import hint


def each(columns: Any) -> tuple[Any, ...]:
    """The columns of a feature: one, or a list of several, as a tuple."""
    return tuple(columns) if isinstance(columns, (list, tuple)) else (columns,)


def has_column(row: Mapping[str, Any], column: str) -> bool:
    """Whether a row has a column."""
    return any(True for _ in _values(row, column))


def column_value(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column.

    Raises:
        KeyError: the row has no such column; see `keys_beside`.
    """
    for value in _values(row, column):
        return value
    raise KeyError(column)


def keys_beside(row: Mapping[str, Any], column: str) -> str:
    """A hint for a column that a row lacks.

    Args:
        row: values by column.
        column: a name that is neither a column nor a nested key.

    Returns:
        The available names: the keys of the object that the column leads to, or
        the nearest names.
    """
    keys = str(column).split(".")
    for number in range(len(keys) - 1, 0, -1):
        parent = ".".join(keys[:number])
        if not has_column(row, parent):
            continue
        value = column_value(row, parent)
        if not isinstance(value, Mapping):
            return f"{parent!r} is no object, but {value!r:.40}"
        known = ", ".join(map(repr, list(value)[:40])) or "none"
        return f"the keys in {parent!r} are {known}"
    return hint(str(column), _paths(row))


def renamed(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict:
    """A row with field names in place of column names.

    Args:
        row: values by column.
        columns: field to its column, which the row has.
    """
    sources = set(columns.values())
    others = {name: v for name, v in row.items() if name not in sources}
    return others | {
        field: column_value(row, name) for field, name in columns.items()
    }


def rows_of_frame(frame: Any) -> list[dict[str, Any]]:
    """The rows of a pandas DataFrame.

    Raises:
        DataError: two columns have one name, and pandas would drop one.
    """
    names = [str(name) for name in frame.columns]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(
            f"{names.count(repeated[0])} columns of the DataFrame are called "
            f"{repeated[0]!r}: rename or drop all but one"
        )
    return frame.to_dict("records")


def index_advice(frame: Any, names: Iterable[Collection[str]]) -> str:
    """Advice if a DataFrame lacks a column that its index may hold; else "".

    Args:
        frame: the examples; only a DataFrame has an index.
        names: for each column the names that it may have.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "index"):
        return ""
    columns = {str(name) for name in frame.columns}
    lacking = [
        of_one
        for of_one in names
        if not any({n, n.partition(".")[0]} & columns for n in of_one)
    ]
    index = getattr(frame.index, "names", [])
    for of_one in lacking:
        for name in of_one:
            if name in index:
                return (
                    f"{name!r} is the index of the DataFrame, which is not "
                    "read: reset_index() makes it a column"
                )
    # Texts in an index without a name may be those of the one that lacks.
    if len(lacking) == 1 and list(index) == [None]:
        (name, *_) = lacking[0]
        if len(frame.index) and isinstance(frame.index[0], str):
            return (
                f"there is no column {name!r}, and the index of the "
                f"DataFrame is not read: reset_index(names={name!r}) makes it "
                "a column"
            )
    return ""


def _values(row: Any, column: str) -> Iterator[Any]:
    """The values that a column may mean; an exact key comes first."""
    if not isinstance(row, Mapping):
        return
    if column in row:
        yield row[column]
    for place in range(len(column) - 1, 0, -1):
        if column[place] == "." and column[:place] in row:
            yield from _values(row[column[:place]], column[place + 1 :])


def _paths(row: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The columns of a row, including nested keys."""
    for key, value in row.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"
