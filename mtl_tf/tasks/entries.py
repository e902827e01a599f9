"""From a config entry to a task on the user's own data."""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.file_source import FileSource
from mtl_tf.tasks.groups import pool_of
from mtl_tf.tasks.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.tables import FORMATS, Column, Layout
from mtl_tf.tasks.task import KINDS, METRICS, SPLITS, Source, Task
from mtl_tf.tasks.tfds_source import TfdsSource

_COMMON = ("name", "kind", "columns", "labels", "metrics", "loss_weight")
_FILES = (*_COMMON, "files", "format", "header")
_DATASET = (*_COMMON, "dataset", "splits")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def task_of_entry(
    entry: Mapping[str, Any], data_dir: str = "", manual_dir: str = ""
) -> Task:
    """Makes the task that a config entry describes.

    Args:
        entry: on one's own files

            {"name": "mails", "kind": "classification",
             "files": {"train": "a.tsv", "validation": "b.tsv",
                       "test": "c.tsv"},
             "format": "tsv", "columns": {"text": 1, "label": 0},
             "header": False, "labels": ["ham", "spam"],
             "metrics": ["accuracy"], "loss_weight": 1.0}

            of which `name` and `files` are needed. `format` is by default the
            ending of each file. Columns are named ("text" and "label", unless
            given), which takes a header in tsv and csv, or numbered from 0.
            Labels are by default those of the training file, sorted. Without a
            validation file a tenth of the training file is held out.

            Or on a TFDS dataset, with `dataset` (its name) and `splits` (by
            default those of its splits that are called like ours) in place of
            `files`, `format` and `header`.
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.

    Raises:
        ConfigError: a field is missing, unknown or wrong.
        DataError: the data are missing or wrong.
    """
    name = _name(entry)
    try:
        return _task(name, entry, data_dir, manual_dir)
    except ConfigError as error:
        raise ConfigError(f"task {name}: {error}")


def _task(
    name: str, entry: Mapping[str, Any], data_dir: str, manual_dir: str
) -> Task:
    if ("files" in entry) == ("dataset" in entry):
        raise ConfigError(
            "an entry needs either files or dataset, to say where its "
            "examples come from"
        )
    known = _FILES if "files" in entry else _DATASET
    for field in entry:
        if field not in known:
            raise ConfigError(f"unknown field {field!r}; {hint(field, known)}")
    kind = checks.one_of("kind", entry.get("kind", KINDS[0]), KINDS)
    weight = checks.positive("loss_weight", entry.get("loss_weight", 1.0))
    metrics = _strings(entry, "metrics", 1) or METRICS
    if "files" in entry:
        source, splits = _file_source(entry)
    else:
        source, splits = _tfds_source(entry, data_dir, manual_dir)
    labels = source.labels
    source, splits = with_validation(name, source, splits)
    pool = pool_of(entry.get("dataset", ""))
    return Task(name, kind, source, labels, metrics, weight, splits, pool)


def with_validation(
    name: str, source: Source, splits: Mapping[str, str]
) -> tuple[Source, dict[str, str]]:
    """Holds a part of the training split out if there is no validation split.

    Returns:
        The source and splits to use; as they were if nothing is missing.
    """
    if "validation" in splits or "train" not in splits:
        return source, dict(splits)
    source = HoldOutSource(source, splits["train"], name)
    return source, {**splits, "train": KEPT, "validation": HELD_OUT}


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(
            "a task's name must start with a letter or a digit and hold only "
            f"letters, digits, '_', '.' and '-', got {name!r}, in {entry!r}"
        )
    return name


def _file_source(
    entry: Mapping[str, Any],
) -> tuple[FileSource, dict[str, str]]:
    files = _mapping(entry, "files", _is_text, "a path")
    if not files:
        raise ConfigError("files must name a file for train, test or both")
    paths = {s: os.path.expanduser(path) for s, path in files.items()}
    for split, path in paths.items():
        if not os.path.isfile(path):
            reason = "is no file" if os.path.exists(path) else "does not exist"
            raise DataError(
                f"task {entry['name']}: files.{split}: {path} {reason}"
            )
    layouts = {s: _layout(entry, s, path) for s, path in paths.items()}
    source = FileSource(paths, layouts, _strings(entry, "labels", 2))
    return source, {split: split for split in paths}


def _layout(entry: Mapping[str, Any], split: str, path: str) -> Layout:
    form = entry.get("format")
    if form is None:
        form = os.path.splitext(path)[1].removeprefix(".").lower()
        if form not in FORMATS:
            raise ConfigError(
                f"files.{split}: cannot tell the format of {path} by its "
                f"ending: set format to {', '.join(FORMATS)}"
            )
    checks.one_of("format", form, FORMATS)
    columns = _columns(entry, _is_column, "a column's name or number from 0")
    by_name = [isinstance(column, str) for column in columns.values()]
    if form == "jsonl":
        if not all(by_name) or entry.get("header") is not None:
            raise ConfigError("jsonl has keys: columns by name, and no header")
        return Layout(form, **columns, header=False)
    header = entry.get("header")
    if header is None:
        header = any(by_name)
    if not isinstance(header, bool):
        raise ConfigError(f"header must be True or False, got {header!r}")
    if any(by_name) and not header:
        raise ConfigError(
            "columns are given by name, which takes a header: give them by "
            'number, such as {"text": 1, "label": 0}'
        )
    return Layout(form, **columns, header=header)


def _tfds_source(
    entry: Mapping[str, Any], data_dir: str, manual_dir: str
) -> tuple[TfdsSource, dict[str, str]]:
    if not _is_text(entry["dataset"]):
        raise ConfigError(
            f"dataset must be the name of one, got {entry['dataset']!r}"
        )
    splits = None
    if entry.get("splits") is not None:
        splits = _mapping(entry, "splits", _is_text, "a split of the dataset")
    source = TfdsSource(
        entry["dataset"],
        data_dir,
        manual_dir,
        **_columns(entry, _is_text, "the name of a feature"),
        labels=_strings(entry, "labels", 2),
        train=(splits or {}).get("train", "train"),
    )
    if splits is None:
        known = source.split_names
        splits = {split: split for split in SPLITS if split in known}
    for split in splits.values():
        source.size(split)  # complains about a split that is not there
    return source, splits


def _columns(
    entry: Mapping[str, Any], is_right: Callable[[Any], bool], rule: str
) -> dict[str, Column]:
    columns = {"text": "text", "label": "label"}
    given = _mapping(entry, "columns", is_right, rule, tuple(columns))
    columns |= given
    if columns["text"] == columns["label"]:
        raise ConfigError(
            f"columns.text and columns.label are both {columns['text']!r}"
        )
    return columns


def _mapping(
    entry: Mapping[str, Any],
    field: str,
    is_right: Callable[[Any], bool],
    rule: str,
    known: tuple[str, ...] = (),
) -> dict[str, Any]:
    value = entry.get(field)
    value = {} if value is None else value
    if not isinstance(value, Mapping):
        raise ConfigError(f"{field} must be a mapping, got {value!r}")
    for key, one in value.items():
        if known and key not in known:
            raise ConfigError(f"unknown {field}.{key}; {hint(key, known)}")
        if not is_right(one):
            raise ConfigError(f"{field}.{key} must be {rule}, got {one!r}")
    return dict(value)


def _strings(
    entry: Mapping[str, Any], field: str, least: int
) -> tuple[str, ...] | None:
    value = entry.get(field)
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) < least:
        raise ConfigError(
            f"{field} must be a list of at least {least}, got {value!r}"
        )
    for one in value:
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise ConfigError(f"{field} must hold strings, got {one!r}")
    texts = tuple(str(one).strip() for one in value)
    if len(set(texts)) < len(texts):
        raise ConfigError(f"{field} names one twice: {value!r}")
    return texts


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_column(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and value >= 0
    return _is_text(value)
