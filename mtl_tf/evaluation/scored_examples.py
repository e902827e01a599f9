"""The predictions that a run was scored on, in its directory.

`scored/SPLIT/TASK.json` has labels and predictions, so that runs can be
compared example by example without their models.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core import files, own_functions
from mtl_tf.core.errors import RunError
from mtl_tf.evaluation.scoring import TaskPredictions

FOLDER = "scored"
# Losses are not compared, and diagnostics are not scored.
_FIELDS = (
    "name",
    "type",
    "labels",
    "predictions",
    "class_names",
    "metrics",
    "scores",
    "settings",
)
# Fields that older runs or some splits lack.
_OPTIONAL = ("confidences", "clean", "examples", "units")
_DIGITS = 4  # of confidences: enough to read


def write(run: str, split: str, tasks: Iterable[TaskPredictions]) -> None:
    """Writes a run's predictions for a split of its tasks.

    Args:
        run: the run's directory.
        split: the name of the split.
        tasks: the predictions of each task.
    """
    for task in tasks:
        path = os.path.join(run, FOLDER, split, f"{task.name}.json")
        fields = {name: _plain(getattr(task, name)) for name in _FIELDS}
        for name in _OPTIONAL:
            if getattr(task, name) is not None:
                fields[name] = _plain(getattr(task, name))
        if "confidences" in fields:
            fields["confidences"] = _rounded(fields["confidences"])
        files.write_json(path, fields)


def read(run: str, split: str) -> dict[str, TaskPredictions]:
    """Reads by task what `write` wrote; {} if it wrote nothing.

    Raises:
        RunError: a file cannot be read.
    """
    folder = os.path.join(run, FOLDER, split)
    if not os.path.isdir(folder):
        return {}
    predictions = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            task = _task(os.path.join(folder, name))
            predictions[task.name] = task
    return predictions


def splits(run: str) -> list[str]:
    """The splits that `write` wrote for a run."""
    folder = os.path.join(run, FOLDER)
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def joined(parts: Sequence[TaskPredictions]) -> TaskPredictions:
    """The examples of several parts of a task as one, such as all folds.

    Args:
        parts: predictions with the same labels and metrics. What not all parts
            have is left out, and so are losses and diagnostics.

    Raises:
        RunError: the labels, their order or the metrics differ.
    """
    first, *others = parts
    for part in others:
        for what in ("class_names", "metrics"):
            values = [list(getattr(p, what)) for p in (first, part)]
            if values[0] != values[1]:
                raise RunError(
                    f"the parts of the task {first.name} cannot be joined: "
                    f"{what} is {values[0]} in one and {values[1]} in another"
                )

    def join(name: str) -> list[Any] | None:
        values = [getattr(part, name) for part in parts]
        if any(value is None for value in values):
            return None
        return [item for value in values for item in value]

    digests = [part.examples for part in parts]
    return TaskPredictions(
        first.name,
        join("labels"),
        join("predictions"),
        first.class_names,
        type=first.type,
        metrics=first.metrics,
        clean=join("clean"),
        scores=join("scores"),
        settings=first.settings,
        confidences=join("confidences"),
        examples=None if None in digests else " ".join(digests),
        units=_joined_units([part.units for part in parts]),
    )


def _joined_units(
    parts: Sequence[Sequence[int] | None],
) -> list[int] | None:
    """Units of joined parts; no example depends on one of another part."""
    units: list[int] = []
    for part in parts:
        if part is None:
            return None
        first = max(units, default=-1) + 1
        units += [first + number for number in part]
    return units


def warn_of_other_texts(
    runs: Sequence[Mapping[str, TaskPredictions]], paths: Sequence[str]
) -> None:
    """Warns once if runs read different texts, although their labels agree.

    That may be intended: the same examples, cleaned in another way. Or the rows
    differ, for example those of another split that is sorted by label.

    Args:
        runs: the tasks of each run by name; all runs have the same names.
        paths: the runs' paths.
    """
    for run, path in zip(runs, paths):
        names = [
            name
            for name, task in run.items()
            if None not in (runs[0][name].examples, task.examples)
            and runs[0][name].examples != task.examples
        ]
        if names:
            logging.warning(
                "%s and %s read other texts of the task%s %s, or in another "
                "order, though their labels agree: go on only if row n is the "
                "same example in both, such as one cleaned in another way",
                paths[0],
                path,
                "s" * (len(names) > 1),
                ", ".join(names),
            )
            return


def forget(run: str) -> None:
    """Removes what `write` wrote for a run."""
    shutil.rmtree(os.path.join(run, FOLDER), ignore_errors=True)


def _task(path: str) -> TaskPredictions:
    value = files.read_json(path)
    if not isinstance(value, dict) or set(_FIELDS) - set(value):
        raise RunError(
            f"{path} must hold an object with {', '.join(_FIELDS)}: score the "
            "run again"
        )
    for problem in _problems(value, os.path.basename(path)):
        raise RunError(f"{path} must hold {problem}: score the run again")
    fields = {name: value[name] for name in _FIELDS}
    fields |= {name: value[name] for name in _OPTIONAL if name in value}
    return TaskPredictions(**fields)


def _problems(value: Mapping[str, Any], file: str) -> Iterator[str]:
    """What a file would have to hold, for all that is wrong in it."""
    if f"{value['name']}.json" != file:
        yield f"the task of its name, not {value['name']!r:.60}"
    for name, kind in {"type": str, "settings": dict}.items():
        if not isinstance(value[name], kind):
            yield f"another {name} than {value[name]!r:.60}"
    for name in ("class_names", "metrics"):
        if not _all(str, value[name]):
            yield f"a list of names as {name}, not {value[name]!r:.60}"
            return
    lists = [value[name] for name in ("labels", "predictions")]
    if not all(isinstance(values, list) for values in lists) or (
        len(lists[0]) != len(lists[1]) or not value["metrics"]
    ):
        yield "lists of labels, as many predictions, and a metric"
        return
    yield from _misfits(value)
    classes = value["class_names"]
    for name, kind in _OF_EACH.items():
        rows = value.get(name)
        if rows is None:
            continue
        if not isinstance(rows, list) or len(rows) != len(lists[0]):
            yield f"{name} of all {len(lists[0])} examples, or null"
        elif not all(kind(row) for row in rows):
            yield f"other {name}, or null"
        elif name == "scores" and {len(row) for row in rows} - {len(classes)}:
            yield f"{name} of all {len(classes)} class_names"


def _misfits(value: Mapping[str, Any]) -> Iterator[str]:
    """What labels and predictions would have to be; own types may be any."""
    if own_functions.is_own(str(value["type"])):
        return
    classes = range(len(value["class_names"]))
    lists = [value[name] for name in ("labels", "predictions")]
    for name, items in zip(("labels", "predictions"), lists):
        rows = [items, *(item for item in items if isinstance(item, list))]
        flat = [item for item in items if _is_number(item)]
        if None in items or not all(map(_numbers_or_none, rows)):
            yield f"{name} of one kind"
        elif classes and any(number not in classes for number in flat):
            yield f"{name} that are numbers of its class_names"
    rows = [item for items in lists for item in items if _has_numbers(item)]
    if rows and not all(_all(list, items) for items in lists):
        yield "a prediction for each label of an example"
        return
    # With scores, each says of every class whether it is one of the example's.
    is_marked = rows and value["scores"] is not None
    widths = {len(row) for items in lists for row in items if is_marked}
    if widths - {len(classes)}:
        yield "labels and predictions of all class_names"


def _numbers_or_none(items: list[Any]) -> bool:
    return sum(map(_is_number, items)) in (0, len(items))


def _has_numbers(item: Any) -> bool:
    return isinstance(item, list) and any(map(_is_number, item))


def _all(kind: type | tuple[type, ...], values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(v, kind) for v in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _are_numbers(row: Any) -> bool:
    return _all((int, float), row)


# What each example has, in fields that may be null or missing.
_OF_EACH: dict[str, Callable[[Any], bool]] = {
    "scores": _are_numbers,
    "confidences": _are_numbers,
    "clean": lambda row: isinstance(row, int),
    "units": lambda row: isinstance(row, int),
}


def _rounded(rows: list[list[float]]) -> list[list[float]]:
    return [[round(number, _DIGITS) for number in row] for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
