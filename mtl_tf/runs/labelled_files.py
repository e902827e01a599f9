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
) -> tuple[list, list]:
    """Reads one file, or the two of a translation task, in the task's format.

    A task on the user's own files has its format from the config. Any other
    reads lines of `label TAB text`, the label by name or by number; a tagging
    task columns, tokens in the first and tags in the last one, CoNLL-U or
    JSON, by the file's ending (see `mtl_tf.tasks.tagging_entries`). A
    translation task reads two line-aligned files.

    Args:
        path: the file; of a translation task SOURCE,REFERENCE.
        task: name, kind and labels of its task.
        entries: the config's `tasks`.

    Returns:
        Texts and class numbers; of a tagging task the tokens and the tag
        numbers of each sentence; of a translation task sources and references.

    Raises:
        DataError: the file cannot be read or has a wrong line.
        ConfigError: it cannot be read as the task's own files are, or a
            translation task has not two files.
    """
    if task["kind"] == "translation":
        return _read_pairs(path, task)
    own: Mapping[str, Any] = {}
    for entry in entries:
        if isinstance(entry, Mapping) and "files" in entry:
            own = entry if entry.get("name") == task["name"] else own
    if task["kind"] == "tagging":
        return _read_tagged(path, task, own)
    return _read_own(path, task, own) if own else _read_lines(path, task)


def _read_lines(
    path: str, task: Mapping[str, Any]
) -> tuple[list[str], list[int]]:
    from mtl_tf.datasets import lines

    labels = task["labels"]
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
    from mtl_tf.tasks.row_files import FORMATS

    entry = {**entry, "format": _format(path, entry, FORMATS)}
    rows = list(_resolve(path, task, entry).dataset("test").as_numpy_iterator())
    texts = [row["text"].decode("utf-8", errors="replace") for row in rows]
    return texts, [int(row["label"]) for row in rows]


def _read_tagged(
    path: str, task: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[list[list[str]], list[list[int]]]:
    from mtl_tf.datasets.column_files import CONLLU_COLUMNS
    from mtl_tf.runs import run_data
    from mtl_tf.tasks.tagged_readers import FORMATS

    form = _format(path, own, FORMATS)
    entry = {
        # Tags of words stay as they are, whatever they look like.
        "scheme": "auto" if task["scheme"] else "none",
        "columns": {},
        **own,
        "name": task["name"],
        "kind": "tagging",
        "format": form or "conll",
        "train_scheme": task["scheme"],
    }
    if form == "conllu" and not own and task["name"] in CONLLU_COLUMNS:
        entry["columns"] = {"tags": task["name"]}
    return run_data.sentences(_resolve(path, task, entry), "test")


def _format(path: str, entry: Mapping[str, Any], formats: Sequence[str]) -> str:
    """A file without a known ending is like the task's other ones."""
    from mtl_tf.tasks import fields

    if entry.get("format"):
        return entry["format"]
    paths = [path, *entry.get("files", {}).values()]
    return next(filter(None, (fields.format_of(p, formats) for p in paths)), "")


def _read_pairs(
    path: str, task: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    from mtl_tf.datasets import lines, parallel_lines

    paths = path.split(",")
    if len(paths) != 2 or not all(paths):
        raise ConfigError(
            f"--files={task['name']}={path} must be {task['name']}=SOURCE,"
            "REFERENCE: two files, line n of one the translation of line n of "
            "the other"
        )
    found = parallel_lines.read_aligned(*map(lines.LineFile, paths))
    for warning in found.warnings:
        logging.warning("%s", warning)
    sources, references = map(list, zip(*found.pairs))
    return sources, references


def _resolve(path: str, task: Mapping[str, Any], entry: Mapping) -> Any:
    """The task of an entry, with one file in place of its own ones."""
    from mtl_tf.tasks import registry

    labels = list(task["labels"])
    entry = {**entry, "files": {"test": path}, "labels": labels}
    (resolved,) = registry.resolve([entry], None, None)
    return resolved
