"""The layouts of an entry's tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from mtl_tf.core import checks
from mtl_tf.core.columns import each
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.csv_records import COMMA, checked_delimiter
from mtl_tf.tasks import fields
from mtl_tf.tasks.source import UNLABELLED

FORMATS = ("tsv", "csv", "jsonl")
Entry = Mapping[str, Any]
Column = int | str
#: The column of a feature, or those of a target that has several.
Columns = Column | tuple[Column, ...]
#: Entry fields that describe the layout of tables, with their formats; see
#: `TaskType.file_fields`.
FIELDS = {
    "columns": (),
    "format": (),
    "delimiter": ("csv",),
    "header": ("csv", "tsv"),
    "skip_malformed": ("csv", "tsv"),
}


class Layout(NamedTuple):
    """The layout of a file.

    Attributes:
        format: "tsv", "csv" (RFC 4180) or "jsonl".
        columns: for each feature the name of its column, or its number from 0:
            the texts, and last the target, which may have several columns.
        header: whether the first row of a tsv or csv file names the columns.
        delimiter: separates the cells of a csv file.
        skip_malformed: whether rows with a wrong number of columns are left
            out; otherwise they are errors.
    """

    format: str
    columns: Mapping[str, Columns]
    header: bool
    delimiter: str = COMMA
    skip_malformed: bool = False

    @property
    def texts(self) -> list[str]:
        """The text features."""
        return list(self.columns)[:-1]

    @property
    def pairs(self) -> list[tuple[str, Column]]:
        """Each feature with its column, or with each of its columns."""
        return [(f, c) for f, cs in self.columns.items() for c in each(cs)]

    @property
    def all_columns(self) -> list[Column]:
        """The columns of all features."""
        return [column for _, column in self.pairs]

    @property
    def target(self) -> str:
        """The target's column, or if that has no name, its feature."""
        feature, column = list(self.columns.items())[-1]
        return column if isinstance(column, str) else feature

    def divider(self) -> Callable[[Sequence[Any]], tuple[tuple, Any]]:
        """A function of a row's values that returns its texts and its target.

        A target of several columns is a mapping from these to their values.
        """
        count, of_target = len(self.texts), list(self.columns.values())[-1]
        if not isinstance(of_target, tuple):
            return lambda values: (tuple(values[:count]), values[count])
        return lambda values: (
            tuple(values[:count]),
            dict(zip(of_target, values[count:])),
        )

    @property
    def separator(self) -> str:
        """The name of what separates the cells of a tsv or csv file."""
        character = "\t" if self.format == "tsv" else self.delimiter
        return {"\t": "tab", COMMA: "comma"}.get(character, repr(character))


def layouts_of(
    entry: Entry,
    paths: Mapping[str, Sequence[str]],
    features: Sequence[str],
    default: str = "",
    may_have_several: bool = False,
) -> dict[str, Layout]:
    """The layout of each split's files.

    Args:
        entry: the config entry.
        paths: its files by split.
        features: the features to read: the texts, and last the target.
        default: the format of files with an unknown ending; "" for none.
        may_have_several: whether the target may have several columns.

    Raises:
        ConfigError: a field of `FIELDS` is wrong.
    """
    columns = _columns(entry, features, may_have_several)
    layouts = {
        split: _layout(entry, split, of_split, columns, default)
        for split, of_split in paths.items()
    }
    forms = {layout.format for layout in layouts.values()}
    if entry.get("delimiter") is not None and "csv" not in forms:
        raise ConfigError(
            f"delimiter is for csv, and the files are read as "
            f"{' and '.join(sorted(forms))}: set format to 'csv', or leave "
            "delimiter out"
        )
    if entry.get("skip_malformed") and not forms & {"csv", "tsv"}:
        raise ConfigError(
            "skip_malformed is about the columns of csv and tsv, and the files "
            f"are read as {' and '.join(sorted(forms))}: leave it out"
        )
    return layouts


def columns_of(
    entry: Entry,
    features: Sequence[str],
    is_right: Callable[[Any], bool],
    rule: str,
) -> dict[str, Columns]:
    """The column of each feature; the default is the feature's name.

    Args:
        entry: the config entry.
        features: the features to read.
        is_right: whether a value of the field `columns` is right.
        rule: the description of right values, for the message.

    Raises:
        ConfigError: `columns` is wrong, or names one column twice.
    """
    columns: dict[str, Columns] = {name: name for name in features}
    given = fields.mapping(entry, "columns", is_right, rule, tuple(columns))
    for name, column in given.items():
        columns[name] = tuple(column) if isinstance(column, list) else column
    for number, feature in enumerate(features):
        for earlier in features[:number]:
            both = set(each(columns[feature])) & set(each(columns[earlier]))
            if both:
                raise ConfigError(
                    f"columns.{earlier} and columns.{feature} are both "
                    f"{both.pop()!r}"
                )
    return columns


def _columns(
    entry: Entry, features: Sequence[str], may_have_several: bool
) -> dict[str, Columns]:
    """The columns of an entry with files."""
    is_right, rule = fields.is_column, "a column's name or number from 0"
    of_target = rule
    if may_have_several:
        is_right = fields.is_columns
        of_target = f"{rule}, or for {features[-1]} a list of different ones"
    columns = columns_of(entry, features, is_right, of_target)
    for name in features[:-1]:
        if isinstance(columns[name], tuple):
            raise ConfigError(
                f"columns.{name} must be {rule}, got {columns[name]!r}"
            )
    return columns


def _layout(
    entry: Entry,
    split: str,
    paths: Sequence[str],
    columns: Mapping[str, Columns],
    default: str,
) -> Layout:
    form = fields.file_format(entry, split, paths, FORMATS, default)
    if split == UNLABELLED:
        # A file without targets needs no such column; the text's stands in.
        *_, text, target = columns
        columns = {**columns, target: columns[text]}
    by_name = [
        isinstance(column, str) for c in columns.values() for column in each(c)
    ]
    if form == "jsonl":
        if not all(by_name) or entry.get("header") is not None:
            raise ConfigError("jsonl has keys: columns by name, and no header")
        return Layout(form, columns, header=False)
    header = entry.get("header")
    if header is None:
        header = any(by_name)
    checks.boolean("header", header)
    if any(by_name) and not header:
        example = {name: number for number, name in enumerate(columns)}
        raise ConfigError(
            "columns are given by name, which takes a header: give them "
            f"by number, such as {example}"
        )
    skip_malformed = entry.get("skip_malformed") or False
    checks.boolean("skip_malformed", skip_malformed)
    return Layout(form, columns, header, _delimiter(entry), skip_malformed)


def _delimiter(entry: Entry) -> str:
    """The cell delimiter of an entry's csv files."""
    delimiter = entry.get("delimiter")
    return (
        COMMA
        if delimiter is None
        else checked_delimiter("delimiter", delimiter)
    )
