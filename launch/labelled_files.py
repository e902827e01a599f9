"""Labelled files beside a run's own splits, for `launch.evaluate --files`."""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up


def parse(arguments: Sequence[str], tasks: Sequence[dict]) -> dict[str, str]:
    """Reads arguments of the form `task=path`.

    Args:
        arguments: what was given as `--files`.
        tasks: the tasks of the run.

    Returns:
        Paths by task name.

    Raises:
        ConfigError: an argument has another form, names an unknown task or
            one that had a file already.
    """
    known = {task["name"]: task["name"] for task in tasks}
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or not path:
            raise ConfigError(f"--files must be TASK=PATH, got {argument!r}")
        name = look_up(name, known, "task")
        if name in paths:
            raise ConfigError(f"--files names the task {name} twice")
        paths[name] = path
    return paths


def read(
    path: str, task: Mapping[str, Any], entries: Sequence[Any]
) -> tuple[list[str], list[int]]:
    """Reads one file in the format of its task.

    A task on the user's own files has its format from the config; any other
    task reads lines of `label TAB text`, the label by name or by number.

    Args:
        path: the file.
        task: name, kind and labels of its task.
        entries: the config's `tasks`.

    Returns:
        Texts and class numbers.

    Raises:
        DataError: the file cannot be read or has a wrong line.
    """
    own = (entry for entry in entries if isinstance(entry, Mapping))
    for entry in own:
        if entry.get("name") == task["name"] and "files" in entry:
            return _read_own(path, task, entry)
    return _read_lines(path, task["labels"])


def _read_lines(
    path: str, labels: Sequence[str]
) -> tuple[list[str], list[int]]:
    from mtl_tf.datasets import lines

    numbers = {name: number for number, name in enumerate(labels)}
    by_number = {str(number): number for number in range(len(labels))}
    file = lines.LineFile(path)
    rows = file.labelled({**by_number, **numbers})
    for warning in file.warnings:
        logging.warning("%s", warning)
    return [text for text, _ in rows], [label for _, label in rows]


def _read_own(
    path: str, task: Mapping[str, Any], entry: Mapping[str, Any]
) -> tuple[list[str], list[int]]:
    from mtl_tf.tasks import registry

    entry = {**entry, "files": {"test": path}, "labels": list(task["labels"])}
    (resolved,) = registry.resolve([entry], None, None)
    rows = list(resolved.dataset("test").as_numpy_iterator())
    texts = [row["text"].decode("utf-8", errors="replace") for row in rows]
    return texts, [int(row["label"]) for row in rows]
