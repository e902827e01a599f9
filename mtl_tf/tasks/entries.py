"""Makes tasks from config entries."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core import task_types as type_names
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.core.task_types import DEFAULT
from mtl_tf.tasks import fields, own_metrics, task_types
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.splits.groups import Member, pool_of
from mtl_tf.tasks.splits.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_type import TaskType

_COMMON = ("name", "type", "metrics", "loss_weight")
_DATASET = ("dataset", "splits", "columns")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_LONGEST = 100


def task_of_entry(
    entry: Mapping[str, Any], data_dir: str = "", manual_dir: str = ""
) -> Task:
    """Makes the task that a config entry describes.

    Args:
        entry: `name`; `type` ("classification" by default); `files` of your own
            or a TFDS `dataset`; `metrics`; `loss_weight`; and the fields of the
            type, see the classes in `mtl_tf.tasks.task_types`.
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.

    Raises:
        ConfigError: a field is missing, unknown or wrong.
        DataError: the data are missing or wrong.
    """
    name = name_of(entry)
    try:
        return _task(name, entry, data_dir, manual_dir)
    except ConfigError as error:
        raise ConfigError(f"task {name}: {error}")


def _task(
    name: str, entry: Mapping[str, Any], data_dir: str, manual_dir: str
) -> Task:
    if ("files" in entry) == ("dataset" in entry):
        raise ConfigError(
            "an entry needs either files or dataset (in Python also data), to "
            "say where its examples come from"
        )
    if "kind" in entry:
        raise ConfigError("the field kind is called type")
    task_type = task_types.of(entry.get("type", DEFAULT))
    _check_fields(entry, task_type)
    weight = checks.positive("loss_weight", entry.get("loss_weight", 1.0))
    source, splits = task_type.source_of(entry, data_dir, manual_dir)
    labels, settings = source.labels, task_type.settings(entry, source)
    metrics = fields.strings(entry, "metrics", 1)
    if metrics:
        metrics, own_settings = own_metrics.split(
            metrics, tuple(task_type.metrics)
        )
        built_in = set(metrics) - set(own_metrics.places(own_settings))
        task_type.check_metrics([m for m in metrics if m in built_in], settings)
        settings = {**settings, **own_settings}
    # Tasks on one file hold out the same rows, so that none trains on what
    # another holds out.
    by_file = "files" in entry
    texts = task_type.features(labels, settings) if by_file else ()
    source, splits = with_validation(name, source, splits, task_type, texts)
    return Task(
        name=name,
        type=type_names.place(entry.get("type", DEFAULT)),
        source=source,
        labels=labels,
        metrics=metrics,
        loss_weight=weight,
        splits=splits,
        pool=pool_of(entry.get("dataset", "")),
        settings=settings,
    )


def _check_fields(entry: Mapping[str, Any], task_type: TaskType) -> None:
    known = (*_COMMON, *_DATASET, *task_type.fields)
    if "files" in entry:
        known = (
            *_COMMON,
            "files",
            *task_type.file_fields,
            *task_type.fields,
        )
    for field in entry:
        if field not in known:
            raise ConfigError(f"unknown field {field!r}; {hint(field, known)}")


def task_of_member(
    name: str, member: Member, data_dir: str, manual_dir: str
) -> Task:
    """Makes a task of a group; its corpus is prepared when first read.

    Raises:
        DataError: the labels must be read from data that are missing.
    """
    task_type = task_types.of(member.type)
    entry = {"name": name, "dataset": member.dataset, **member.fields}
    source = task_type.dataset_source(entry, data_dir, manual_dir)
    labels, settings = source.labels, task_type.settings(entry, source)
    splits = member.splits
    if not isinstance(splits, Mapping):
        splits = {split: split for split in splits}
    source, splits = with_validation(name, source, splits, task_type)
    return Task(
        name=name,
        type=member.type,
        source=source,
        labels=labels,
        metrics=member.metrics or None,
        splits=splits,
        pool=member.pool,
        settings=settings,
    )


def with_validation(
    name: str,
    source: Source,
    splits: Mapping[str, str],
    task_type: TaskType,
    texts: Sequence[Feature] = (),
) -> tuple[Source, dict[str, str]]:
    """Holds out a part of the training split if validation is missing.

    The part is a tenth, but at most `task_type.most_held_out` examples. If
    `texts`, the task's features, are given, the texts decide the draw.

    Returns:
        The source and splits to use; unchanged if nothing is missing.
    """
    if "validation" in splits or "train" not in splits:
        return source, dict(splits)
    source = HoldOutSource(
        source,
        splits["train"],
        name,
        task_type.most_held_out,
        task_type.held_out_by(name),
        texts,
        task_type.held_out_together,
    )
    return source, {**splits, "train": KEPT, "validation": HELD_OUT}


def name_of(entry: Mapping[str, Any]) -> str:
    """The name of an entry's task.

    Raises:
        ConfigError: it has no name, or one that no folder can have.
    """
    name = entry.get("name")
    if isinstance(name, str) and len(name) > _LONGEST:
        # Files are named after the task, with endings and temporary marks.
        raise ConfigError(
            f"a task's name must have at most {_LONGEST} characters, got "
            f"{len(name)}: {name[:40]!r}..."
        )
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        # Examples in memory would fill the screen.
        shown = {k: v for k, v in entry.items() if k != "data"}
        raise ConfigError(
            "a task's name must start with a letter or a digit and hold only "
            f"letters, digits, '_', '.' and '-', got {name!r}, in {shown!r}"
        )
    return name
