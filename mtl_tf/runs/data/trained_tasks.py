"""The tasks of a trained run, with their data."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import RunError
from mtl_tf.tasks import registry, task_types
from mtl_tf.tasks.splits.fractions import cut
from mtl_tf.tasks.task import Task


def resolve(
    run_directory: str,
    config: Mapping[str, Any],
    described: Sequence[Mapping[str, Any]],
    data_dir: str | None = None,
    manual_dir: str | None = None,
) -> dict[str, Task]:
    """The tasks of a run, by name, with label ids as in training.

    Labels that the config's entry does not list come from its files, which may
    have changed.

    Args:
        run_directory: for error messages.
        config: the run's config.
        described: the tasks in `labels.json`.
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora.

    Raises:
        RunError: a task's labels differ from those it was trained on.
        MtlError: its data cannot be read.
    """
    entries = config["tasks"]
    trained = {task["name"]: task for task in described}
    tasks = _of_entries(entries, config, data_dir, manual_dir)
    if not _changed(tasks, trained):
        return tasks
    entries = [
        {**entry, **_fixed_fields(trained[entry["name"]])}
        if isinstance(entry, Mapping)
        else entry
        for entry in entries
    ]
    tasks = _of_entries(entries, config, data_dir, manual_dir)
    for name in _changed(tasks, trained):
        raise RunError(
            f"the labels of the task {name} are others than those that "
            f"{run_directory} was trained on: "
            f"{', '.join(tasks[name].labels)} in place of "
            f"{', '.join(trained[name]['labels'])}"
        )
    return tasks


def _of_entries(
    entries: Any,
    config: Mapping[str, Any],
    data_dir: str | None,
    manual_dir: str | None,
) -> dict[str, Task]:
    tasks = registry.resolve(
        entries, data_dir, manual_dir, config["cross_validation"]
    )
    tasks = cut(tasks, config["pipeline"]["fractions"])
    return {task.name: task for task in tasks}


def _changed(
    tasks: Mapping[str, Task], trained: Mapping[str, Mapping]
) -> list[str]:
    """The tasks whose labels differ from those in training."""
    return [
        name
        for name, task in tasks.items()
        if list(task.labels) != list(trained[name]["labels"])
    ]


def _fixed_fields(task: Mapping[str, Any]) -> dict[str, Any]:
    """Entry fields that give the labels the same ids as in a run."""
    task_type = task_types.of(task["type"])
    return task_type.fixed_fields(task["labels"], task)
