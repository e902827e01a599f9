"""Reads fields of a config entry, with errors that name them."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.datasets import binary_tables
from mtl_tf.tasks.source import SPLITS, Source


def format_of(path: str, formats: Collection[str]) -> str:
    """The format of a file's ending, with or without .gz; "" if unknown."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1]
    form = ending.removeprefix(".").lower()
    form = "jsonl" if form == "json" else form
    return form if form in formats else ""


def file_format(
    entry: Mapping[str, Any],
    split: str,
    paths: Sequence[str],
    formats: Collection[str],
    default: str = "",
) -> str:
    """The format of a split's files: the field `format`, or else their ending.

    It is `default` if neither gives a format.

    Raises:
        ConfigError: the format is unknown, or the files' formats differ.
    """
    first_of: dict[str, str] = {}
    for path in paths:
        if advice := binary_tables.advice(path):
            raise ConfigError(
                f"files.{split}: {advice}, or pass the table as data in Python"
            )
        form = entry.get("format") or format_of(path, formats) or default
        if not form:
            raise ConfigError(
                f"files.{split}: cannot tell the format of {path} by its "
                f"ending: set format to {', '.join(formats)}"
            )
        first_of.setdefault(form, path)
    form, *others = first_of
    if others:
        raise ConfigError(
            f"files.{split}: {first_of[others[0]]} is read as {others[0]}, "
            f"but {first_of[form]} as {form}: the files of a split have one "
            "format"
        )
    return checks.one_of("format", form, formats)


def mapping(
    entry: Mapping[str, Any],
    field: str,
    is_right: Callable[[Any], bool],
    rule: str,
    known: tuple[str, ...] = (),
) -> dict[str, Any]:
    """A field that is a mapping; {} if it is missing.

    Args:
        entry: the config entry.
        field: the field's name.
        is_right: whether a value of the mapping is right.
        rule: the description of right values, for the message.
        known: the keys that may occur; () for any.

    Raises:
        ConfigError: it is no mapping, or has a wrong key or value.
    """
    value = entry.get(field)
    value = {} if value is None else value
    if not isinstance(value, Mapping):
        raise ConfigError(f"{field} must be a mapping, got {value!r}")
    for key, item in value.items():
        if known and key not in known:
            raise ConfigError(f"unknown {field}.{key}; {hint(key, known)}")
        if not is_right(item):
            raise ConfigError(f"{field}.{key} must be {rule}, got {item!r}")
    return dict(value)


def strings(
    entry: Mapping[str, Any], field: str, least: int
) -> tuple[str, ...] | None:
    """A field that is a list of different names; None if it is missing.

    Raises:
        ConfigError: it is no list, has fewer than `least` names, or one twice.
    """
    value = entry.get(field)
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) < least:
        raise ConfigError(
            f"{field} must be a list of at least {least}, got {value!r}"
        )
    for item in value:
        if isinstance(item, bool) or not isinstance(item, (str, int)):
            raise ConfigError(f"{field} must hold strings, got {item!r}")
    texts = tuple(str(item).strip() for item in value)
    if len(set(texts)) < len(texts):
        raise ConfigError(f"{field} names one twice: {value!r}")
    return texts


def text(entry: Mapping[str, Any], field: str, default: str = "") -> str:
    """A field that is a string.

    Raises:
        ConfigError: it is no string.
    """
    value = entry.get(field)
    value = default if value is None else value
    if not isinstance(value, str):
        raise ConfigError(f"{field} must be a string, got {value!r}")
    return value


def paths(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The files of an entry by split, each a tuple in reading order.

    Raises:
        ConfigError: no file is named, or one is named twice for a split.
        DataError: a file does not exist.
    """
    if is_text(given := entry.get("files")):
        raise ConfigError(
            "files must name the files of each split, such as "
            f"{ {'train': given} }, got {given!r}"
        )
    files = mapping(
        entry,
        "files",
        lambda value: is_text(value) or isinstance(value, (list, tuple)),
        "a path or a list of paths",
    )
    if not files:
        raise ConfigError("files must name a file for train, test or both")
    paths = {s: _paths(f"files.{s}", value) for s, value in files.items()}
    for split, of_split in paths.items():
        for path in of_split:
            if os.path.isfile(path):
                continue
            reason = "is no file" if os.path.exists(path) else "does not exist"
            raise DataError(
                f"task {entry['name']}: files.{split}: {path} {reason}"
            )
    return paths


def listed(value: Any) -> list[Any]:
    """An entry's value for a split, a path or a list of paths, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _paths(field: str, value: Any) -> tuple[str, ...]:
    """The paths of a split, which must be different files."""
    if not listed(value):
        raise ConfigError(f"{field} is an empty list: name a file or several")
    paths: dict[str, str] = {}
    for number, path in enumerate(listed(value)):
        if not is_text(path):
            raise ConfigError(f"{field}[{number}] must be a path, got {path!r}")
        path = os.path.expanduser(path)
        real = os.path.realpath(path)
        if real in paths:
            raise ConfigError(f"{field} names a file twice: {path}")
        paths[real] = path
    return tuple(paths.values())


def dataset_name(entry: Mapping[str, Any]) -> str:
    """The dataset name of an entry.

    Raises:
        ConfigError: it is no name.
    """
    if not is_text(entry["dataset"]):
        raise ConfigError(
            f"dataset must be the name of one, got {entry['dataset']!r}"
        )
    return entry["dataset"]


def given_splits(entry: Mapping[str, Any]) -> dict[str, str] | None:
    """The dataset's split for each of the task's splits; None if missing."""
    if entry.get("splits") is None:
        return None
    return mapping(entry, "splits", is_text, "a split of the dataset")


def known_splits(
    splits: Mapping[str, str] | None, source: Source
) -> dict[str, str]:
    """The given splits, or a dataset's splits of our names.

    Raises:
        ConfigError: the dataset has no such split.
    """
    if splits is None:
        known = source.split_names
        splits = {split: split for split in SPLITS if split in known}
    for split in splits.values():
        source.size(split)  # raises if the split does not exist
    return dict(splits)


def is_text(value: Any) -> bool:
    """Whether a value is a string that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_columns(value: Any) -> bool:
    """Whether a value is a column, or a list of different ones."""
    if not isinstance(value, (list, tuple)):
        return is_column(value)
    return (
        bool(value)
        and all(map(is_column, value))
        and len(set(value)) == len(value)
    )


def is_column(value: Any) -> bool:
    """Whether a value is a column's name or its number, from 0."""
    if isinstance(value, int):
        return not isinstance(value, bool) and value >= 0
    return is_text(value)
