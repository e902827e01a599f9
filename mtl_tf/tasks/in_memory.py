"""Tasks with examples in memory, which are kept as files of JSON lines."""

import hashlib
import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import files
from mtl_tf.core.columns import each, index_advice, rows_of_frame
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import look_up
from mtl_tf.core.task_types import DEFAULT
from mtl_tf.tasks import fields, task_types
from mtl_tf.tasks.entries import name_of
from mtl_tf.tasks.features import Feature, inputs, targets
from mtl_tf.tasks.reading import given_rows
from mtl_tf.tasks.source import SPLITS, UNLABELLED
from mtl_tf.tasks.sources.keras_datasets import unbatched

FIELD = "data"
# Fields of an entry that say how the cells of a file are read.
_OF_TABLES = ("delimiter", "header", "skip_malformed")


def to_files(entry: Any, folder: str) -> Any:
    """Writes an entry's `data` to files, and names the files in its place.

    A run reads its data again when it resumes and when it is evaluated, so the
    data must stay on disk. File names contain a digest of the contents: equal
    data give an equal config, other data a different one.

    Args:
        entry: one of a config's `tasks`. It may have `data` instead of `files`:
            a mapping from train, validation, test and unlabelled (rows that
            need no target) to examples. These are a pandas DataFrame; a mapping
            from columns to values; a `tf.data.Dataset`, batched or not, of
            dicts or of Keras pairs (inputs, target); or another iterable of
            dicts.
        folder: the folder of the files, `NAME/SPLIT-DIGEST.jsonl`.

    Returns:
        The entry with `files` in place of `data`; unchanged if it has no
        `data`.

    Raises:
        ConfigError: `data` has another form, or is given beside `files`,
            `dataset`, `format` or what says how files are read.
        DataError: an example is no dict, or a column that the task reads has
            values other than text, numbers and lists of them; the message names
            task, split and row. In other columns, such values are left out.
    """
    if hasattr(entry, "to_dict") and not isinstance(entry, Mapping):
        entry = entry.to_dict()
    if not isinstance(entry, Mapping) or FIELD not in entry:
        return entry
    name, data = name_of(entry), entry[FIELD]
    for key in ("files", "dataset", "format"):
        if key in entry:
            raise ConfigError(
                f"task {name}: data and {key} stand in one entry: give one"
            )
    for key in _OF_TABLES:
        if entry.get(key) is not None:
            raise ConfigError(
                f"task {name}: {key} is of csv and tsv files, and the entry "
                f"has data: leave {key} out"
            )
    if not isinstance(data, Mapping) or not data:
        raise ConfigError(
            f"task {name}: data must map train, validation or test to "
            f"examples, got {type(data).__name__}"
        )
    paths = {}
    for split, rows in data.items():
        known = dict.fromkeys([*SPLITS, UNLABELLED])
        look_up(split, known, f"split of {name}'s data")
        text = "".join(lines(given_rows.data_of(name, split), rows, entry))
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        paths[split] = given_rows.file_of(folder, name, split, digest)
        if not os.path.exists(paths[split]):
            files.make_directory(os.path.dirname(paths[split]))
            files.write_text(paths[split], text)
    other_fields = {key: value for key, value in entry.items() if key != FIELD}
    return {**other_fields, "files": paths}


def paths_of(entries: Iterable[Any]) -> list[str]:
    """The paths in the `files` of entries, such as `to_files` returns."""
    files = [e.get("files") for e in entries if isinstance(e, Mapping)]
    paths = [p for f in files if isinstance(f, Mapping) for p in f.values()]
    return [path for path in paths if isinstance(path, str)]


def _examples_of(entry: Mapping[str, Any], dataset: Any) -> Any:
    """A `tf.data.Dataset` in a form of Keras as dicts, one per example."""
    features = _features_of(entry)
    columns = _columns_of(entry)
    read = [columns[feature.name] for feature in inputs(features)]
    learnt = [c for f in targets(features) for c in each(columns[f.name])]
    spec = dataset.element_spec
    if isinstance(spec, tuple) and len(spec) == 2:
        if len(learnt) > 1:
            raise ConfigError(
                f"the targets are in {len(learnt)} columns: give a "
                "tf.data.Dataset of dicts with them, not of pairs"
            )

        def as_dict(values: Any, target: Any) -> dict[str, Any]:
            if not isinstance(values, dict):
                values = values if isinstance(values, tuple) else (values,)
                values = dict(zip(read, values))
            return {**values, learnt[0]: target}

        dataset = dataset.map(as_dict)
    ranks = [feature.rank for feature in inputs(features)]
    return unbatched(dataset, ranks, [[name] for name in read])


def _features_of(entry: Mapping[str, Any]) -> Sequence[Feature]:
    return task_types.of(entry.get("type", DEFAULT)).features((), {})


def _columns_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The column name of each feature of the entry's type, or several names."""
    features = _features_of(entry)
    columns = {feature.name: feature.name for feature in features}
    given = fields.mapping(entry, "columns", fields.is_columns, "a name")
    task_type = task_types.of(entry.get("type", DEFAULT))
    several = task_type.may_have_several_columns
    of_targets = {f.name for f in targets(features)} if several else ()
    for feature, column in given.items():
        is_listed = isinstance(column, (list, tuple))
        if not all(map(fields.is_text, each(column))) or (
            is_listed and feature not in of_targets
        ):
            raise ConfigError(
                f"columns.{feature} must be a name, got {column!r}"
            )
    return columns | given


def lines(
    name: str,
    rows: Any,
    entry: Mapping[str, Any],
    target_names: Collection[str] = (),
) -> Iterator[str]:
    """Yields examples as lines of JSON.

    A missing target is written as null, for the reader of the lines to judge.

    Args:
        name: the examples' name in messages.
        rows: the examples, in any form that `to_files` accepts.
        entry: the task's entry, with "type" and "columns" unless they are the
            defaults.
        target_names: other names that the columns of targets may have.

    Raises:
        ConfigError: the rows have another form.
        DataError: as for `to_files`.
    """
    try:
        columns = _columns_of(entry)
        features = _features_of(entry)
        # An input that the entry fixes for all examples is read from none.
        asked = [f.name for f in inputs(features)]
        fixed = {c for n in asked if entry.get(n) for c in each(columns[n])}
        read = {name for names in columns.values() for name in each(names)}
        read -= fixed
        learnt = targets(features)
        may_be_missing = {c for f in learnt for c in each(columns[f.name])}
        may_be_missing |= {*target_names}
        if hasattr(rows, "as_numpy_iterator"):
            rows = _examples_of(entry, rows).as_numpy_iterator()
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}")
    needed = [{*each(columns[n]), n} for n in asked]
    needed = [names for names in needed if not names & fixed]
    # Targets may be missing, unless the index has their name.
    index = {*getattr(getattr(rows, "index", None), "names", ())}
    of_targets = [{*each(columns[f.name]), *target_names} for f in learnt]
    needed += [names for names in of_targets if names & index]
    if advice := index_advice(rows, needed):
        raise DataError(f"{name}: {advice}")
    for number, row in enumerate(_dicts(name, rows)):
        location = f"{name} row {number}"
        if not isinstance(row, Mapping):
            raise DataError(f"{location} must be a dict, got {row!r:.80}")
        plain = _plain_row(location, row, read, may_be_missing)
        yield json.dumps(plain) + "\n"


def _plain_row(
    location: str,
    row: Mapping[str, Any],
    read: Collection[str],
    may_be_missing: Collection[str],
    before: str = "",
) -> dict[str, Any]:
    """A row, or an object in it, as plain JSON values.

    Values that JSON lacks are left out of columns that are not read.

    Args:
        location: the row's location, for messages.
        row: values by key.
        read: the names of the columns that are read.
        may_be_missing: columns whose missing values become null.
        before: a prefix of the keys in the names of nested columns.
    """
    plain = {}
    for key, value in row.items():
        column = f"{before}{key}"
        if column in may_be_missing and is_missing(value):
            value = None
        if isinstance(value, Mapping) and column not in read:
            plain[str(key)] = _plain_row(
                location, value, read, may_be_missing, f"{column}."
            )
            continue
        try:
            plain[str(key)] = _plain(f"{location} {column!r}", value)
        except DataError:
            # For example dates, in a column that the task does not read.
            if column in read:
                raise
    return plain


def is_missing(value: Any) -> bool:
    """Whether it is what pandas has in place of a missing value."""
    is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
    return is_nan or type(value).__name__ in ("NAType", "NaTType")


def _dicts(name: str, rows: Any) -> Iterable[Any]:
    """The examples one by one, whatever their form."""
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        try:
            return rows_of_frame(rows)
        except DataError as error:
            raise DataError(f"{name}: {error}")
    if isinstance(rows, Mapping):
        for key, column in rows.items():
            if isinstance(column, (str, bytes)) or not _is_column(column):
                raise ConfigError(
                    f"{name}: the column {str(key)!r} must be a list or an "
                    f"array of values, got {column!r:.60}"
                )
        lengths = {str(key): len(column) for key, column in rows.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"{name}: columns differ in length: {lengths}")
        return (dict(zip(rows, row)) for row in zip(*rows.values()))
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise ConfigError(
            f"{name} must be a DataFrame, a mapping of columns, a "
            f"tf.data.Dataset or an iterable of dicts, got {rows!r:.80}"
        )
    return rows


def _is_column(values: Any) -> bool:
    """Whether they have a length; NumPy's single values have none."""
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def _plain(name: str, value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return _plain(name, value.tolist())
    if isinstance(value, np.generic):
        return _plain(name, value.item())
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(name, item) for k, item in value.items()}
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name} is not UTF-8: {error}")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{name} is missing or not finite: {value}")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise DataError(
        f"{name} must be text, a number or a list of such, got "
        f"{type(value).__name__}"
    )
