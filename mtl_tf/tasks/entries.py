"""From a config entry to a task on the user's own data."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.tasks import fields, tagging_entries, translation_entries
from mtl_tf.tasks.file_source import FileSource
from mtl_tf.tasks.groups import pool_of
from mtl_tf.tasks.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.row_files import FORMATS, Column, Layout
from mtl_tf.tasks.task import (
    KINDS,
    TAGGING,
    TRANSLATION,
    Source,
    Task,
    check_metrics,
)
from mtl_tf.tasks.tfds_source import TfdsSource

_COMMON = ("name", "kind", "metrics", "loss_weight")
_FILES = (*_COMMON, "files")
_DATASET = (*_COMMON, "dataset", "splits", "columns")
_OF_FILES = {
    "classification": ("columns", "format", "header"),
    TAGGING: ("columns", "format", "separator", "comment"),
    TRANSLATION: (),
}
_OF_KIND = {
    "classification": ("labels",),
    TAGGING: ("labels", "scheme", "train_scheme"),
    TRANSLATION: ("bleu_tokenizer",),
}
_MOST_PAIRS = 2000
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

            For other kinds see `tagging_entries` and `translation_entries`.
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
    kind = checks.one_of("kind", entry.get("kind", KINDS[0]), KINDS)
    known = (*_DATASET, *_OF_KIND[kind])
    if "files" in entry:
        known = (*_FILES, *_OF_FILES[kind], *_OF_KIND[kind])
    for field in entry:
        if field not in known:
            raise ConfigError(f"unknown field {field!r}; {hint(field, known)}")
    weight = checks.positive("loss_weight", entry.get("loss_weight", 1.0))
    if kind in _SOURCES:
        source, splits = _SOURCES[kind](entry, data_dir, manual_dir)
    elif "files" in entry:
        source, splits = _file_source(entry)
    else:
        source, splits = _tfds_source(entry, data_dir, manual_dir)
    labels, scheme = source.labels, source.scheme
    metrics = fields.strings(entry, "metrics", 1)
    check_metrics(metrics or (), kind, scheme)
    source, splits = with_validation(name, source, splits, kind)
    return Task(
        name=name,
        kind=kind,
        source=source,
        labels=labels,
        metrics=metrics,
        loss_weight=weight,
        splits=splits,
        pool=pool_of(entry.get("dataset", "")),
        scheme=scheme,
        bleu_tokenizer=fields.text(entry, "bleu_tokenizer"),
    )


_SOURCES = {
    TAGGING: tagging_entries.source_of,
    TRANSLATION: translation_entries.source_of,
}


def with_validation(
    name: str,
    source: Source,
    splits: Mapping[str, str],
    kind: str = KINDS[0],
) -> tuple[Source, dict[str, str]]:
    """Holds a part of the training split out if there is no validation split.

    It is a tenth; of pairs to translate, of which there may be millions, not
    more than 2,000.

    Returns:
        The source and splits to use; as they were if nothing is missing.
    """
    if "validation" in splits or "train" not in splits:
        return source, dict(splits)
    most = _MOST_PAIRS if kind == TRANSLATION else 0
    source = HoldOutSource(source, splits["train"], name, most)
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
    paths = fields.paths(entry)
    layouts = {s: _layout(entry, s, path) for s, path in paths.items()}
    source = FileSource(paths, layouts, fields.strings(entry, "labels", 2))
    return source, {split: split for split in paths}


def _layout(entry: Mapping[str, Any], split: str, path: str) -> Layout:
    form = entry.get("format") or fields.format_of(path, FORMATS)
    if not form:
        raise ConfigError(
            f"files.{split}: cannot tell the format of {path} by its ending: "
            f"set format to {', '.join(FORMATS)}"
        )
    checks.one_of("format", form, FORMATS)
    columns = _columns(
        entry, fields.is_column, "a column's name or number from 0"
    )
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
    splits = fields.given_splits(entry)
    source = TfdsSource(
        fields.dataset_name(entry),
        data_dir,
        manual_dir,
        **_columns(entry, fields.is_text, "the name of a feature"),
        labels=fields.strings(entry, "labels", 2),
        train=(splits or {}).get("train", "train"),
    )
    return source, fields.known_splits(splits, source)


def _columns(
    entry: Mapping[str, Any], is_right: Callable[[Any], bool], rule: str
) -> dict[str, Column]:
    columns = {"text": "text", "label": "label"}
    given = fields.mapping(entry, "columns", is_right, rule, tuple(columns))
    columns |= given
    if columns["text"] == columns["label"]:
        raise ConfigError(
            f"columns.text and columns.label are both {columns['text']!r}"
        )
    return columns
