"""Labelled files of a trained task, in place of those of its config entry."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core.columns import each
from mtl_tf.tasks import fields as entry_fields
from mtl_tf.tasks import registry
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.reading import layouts, tagged_readers
from mtl_tf.tasks.task import Task


def resolve_file(
    path: str, task: Mapping[str, Any], entry: Mapping[str, Any]
) -> Task:
    """The task of a config entry, with one file in place of its own files."""
    task_type = types_of_tasks.of(task["type"])
    settings = {k: v for k, v in task.items() if k not in ("labels", "metrics")}
    form = entry.get("format") or entry_fields.format_of(path, _FORMATS)
    entry = {
        **_suited(entry, form, task_type.file_fields),
        **task_type.fixed_fields(task["labels"], settings),
        "name": task["name"],
        "type": task["type"],
        "files": {"test": path},
    }
    (resolved,) = registry.resolve([entry], None, None)
    return resolved


_FORMATS = (*layouts.FORMATS, *tagged_readers.FORMATS)


def _suited(
    entry: Mapping[str, Any],
    form: str,
    file_fields: Mapping[str, tuple[str, ...]],
) -> dict[str, Any]:
    """An entry without its own files' fields that another format lacks."""
    if form not in _FORMATS:
        return dict(entry)
    # csv and tsv may lack a header, so both names and numbers are right.
    right = {"csv": (int, str), "tsv": (int, str), "conll": (int,)}
    columns = {
        feature: column
        for feature, column in (entry.get("columns") or {}).items()
        if all(isinstance(c, right.get(form, (str,))) for c in each(column))
    }
    fields = {
        field: value
        for field, value in entry.items()
        if form in (file_fields.get(field) or _FORMATS)
    }
    return {**fields, "columns": columns} if "columns" in fields else fields


def format_as_trained(
    path: str, entry: Mapping[str, Any], formats: Sequence[str]
) -> str:
    """The format of a file; by default, that of the task's own files."""
    if entry.get("format"):
        return entry["format"]
    # The endings of parallel files are languages.
    others = map(entry_fields.listed, entry.get("files", {}).values())
    paths = [p for p in itertools.chain([path], *others) if isinstance(p, str)]
    candidates = (entry_fields.format_of(p, formats) for p in paths)
    return next(filter(None, candidates), "")
