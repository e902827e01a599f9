"""Scores a run on labelled data other than its own splits."""

import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from mtl_tf.core import files
from mtl_tf.core.columns import each, has_column
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.evaluation import evaluator
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.prediction import task_types
from mtl_tf.prediction.predicting_run import PredictingRun
from mtl_tf.prediction.scored_split import task_predictions
from mtl_tf.tasks import in_memory
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.features import inputs, targets
from mtl_tf.tasks.reading import given_rows


def evaluate(
    run: PredictingRun,
    data: Mapping[str, Any],
    predictions_dir: str | None = None,
) -> dict[str, Any]:
    """Scores a run on labelled data.

    Args:
        run: the return value of `mtl_tf.load`.
        data: task name to a file in the format of the task's own files, or to
            examples in a form of `in_memory.lines`. Columns have the names of
            the task's own files or of the type's features.
        predictions_dir: where to write the prediction for each example, if
            given; see `Scoring.write`.

    Returns:
        The structure of `results.json` without clean parts. Its split is
        `files`, or `data` if examples were given. For a file also its path,
        `file`.

    Raises:
        ConfigError: an unknown task, or data that do not suit it.
        DataError: a file cannot be read, or a line or a row is wrong.
    """
    tasks = {task["name"]: task for task in run.tasks}
    if not isinstance(data, Mapping) or not data:
        raise ConfigError(
            "data must map names of tasks to a file or examples, such as "
            f"{{{next(iter(tasks))!r}: ...}}, got {type(data).__name__}"
        )
    for name in data:
        look_up(name, tasks, "task")
    predicted, read = {}, {}
    for name, source in data.items():
        of_task = run.run_of(name)
        predicted[name], read[name] = _predicted(of_task, tasks[name], source)
    split = "files" if all(map(_is_path, data.values())) else "data"
    results = evaluator.evaluate(predicted.values(), split)
    for name, source in data.items():
        if _is_path(source):
            results["tasks"][name]["file"] = os.fspath(source)
        if predictions_dir:
            writer = scoring.of(tasks[name]["type"])
            writer.write(predictions_dir, read[name], predicted[name])
    return results


def entry_of(config: Mapping[str, Any], task: str) -> Mapping[str, Any]:
    """A task's entry in a run's config, if it has files; else {}."""
    on_files = (
        entry
        for entry in config["tasks"]
        if isinstance(entry, Mapping) and "files" in entry
    )
    return next((e for e in on_files if e.get("name") == task), {})


def trained_columns(
    config: Mapping[str, Any], task: Mapping[str, Any]
) -> dict[str, str]:
    """The column names of example fields in a task's own files.

    Args:
        config: the run's config.
        task: the run's description of the task.

    Returns:
        The column by field of the inputs, for fields with another column name.
    """
    features = types_of_tasks.of(task["type"]).features(task["labels"], task)
    columns = entry_of(config, task["name"]).get("columns") or {}
    fields = task_types.of(task["type"]).field_names
    names = {
        fields.get(feature.name, feature.name): columns.get(
            feature.name, feature.name
        )
        for feature in inputs(features)
    }
    return {
        field: column
        for field, column in names.items()
        if isinstance(column, str) and column != field
    }


def fixed_fields(
    config: Mapping[str, Any], task: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields that a task's entry fixes for all of its examples.

    Args:
        config: the run's config.
        task: the run's description of the task.
    """
    entry = entry_of(config, task["name"])
    names = task_types.of(task["type"]).fixed
    return {name: entry[name] for name in names if entry.get(name)}


def given_columns(
    config: Mapping[str, Any], task: Mapping[str, Any]
) -> dict[str, str]:
    """Like `trained_columns`, for the fields of a text to score."""
    columns = entry_of(config, task["name"]).get("columns") or {}
    return task_types.given_texts_of(task).own_columns(columns)


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def _predicted(
    run: PredictingRun, task: Mapping[str, Any], data: Any
) -> tuple[TaskPredictions, list]:
    """The predictions for labelled data, and their inputs."""
    task_type = task_types.of(task["type"])
    entry = entry_of(run.config, task["name"])
    if _is_path(data):
        examples, targets = task_type.read_file(os.fspath(data), task, entry)
    else:
        examples, targets = _read_rows(task_type, data, task, entry)
    predictions = run.predict(task["name"], examples)
    fields = task_type.scored(task, predictions, targets)
    variants = task_type.variants(
        run, task["name"], fields["predictions"], fields["labels"]
    )
    # An example with one field is that field itself.
    read = [
        next(iter(example.values())) if len(example) == 1 else example
        for example in examples
    ]
    return task_predictions(task, **fields, variants=variants), read


def _read_rows(
    task_type: Any, data: Any, task: Mapping[str, Any], entry: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], Any]:
    """Examples and targets, read through a file, as in training."""
    name = given_rows.data_of(task["name"], "")
    # Files without a header have column numbers, which rows lack.
    columns = {
        field: column
        for field, column in (entry.get("columns") or {}).items()
        if all(isinstance(name, str) for name in each(column))
    }
    asked = {**entry, "type": task["type"], "columns": columns}
    features = types_of_tasks.of(task["type"]).features(task["labels"], task)
    names = [feature.name for feature in targets(features)]
    lines = list(in_memory.lines(name, data, asked, names))
    if not lines:
        raise ConfigError(f"{name} has no examples")
    first = json.loads(lines[0])
    # Where neither name is there, the user's own is reported.
    columns = {
        field: column
        for field, column in columns.items()
        if any(has_column(first, name) for name in each(column))
        or not has_column(first, field)
    }
    # What only other formats have is left out where the file is read.
    entry = {k: v for k, v in entry.items() if k != "files"}
    entry |= {"format": "jsonl", "columns": columns}
    with tempfile.TemporaryDirectory() as folder:
        path = given_rows.file_of(
            os.path.join(folder, given_rows.FOLDER), task["name"], "", "0" * 12
        )
        files.make_directory(os.path.dirname(path))
        files.write_text(path, "".join(lines))
        with given_rows.errors_named([path]):
            return task_type.read_file(path, task, entry)
