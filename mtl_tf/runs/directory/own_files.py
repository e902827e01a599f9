"""Makes the paths of a config's own code and data absolute."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtl_tf.core import digests, own_functions
from mtl_tf.datasets import own_builders

_LISTS = (list, tuple)
_FIELDS = (
    ("tasks",),
    ("text", "vocabulary_tasks"),
    ("evaluation", "group"),
)
# Fields that may name the user's own code, with its path.
_NAMES = (
    ("model", "scheme", "name"),
    ("text", "tokenizer", "name"),
    ("training", "optimizer", "name"),
    ("training", "optimizer", "schedule"),
    ("training", "loss_weighting"),
    ("pipeline", "mixing"),
)


def absolute(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with absolute paths of its tasks' files and own code.

    A run may be scored and resumed from another folder than that in which it
    began.

    Args:
        config: plain values; parts may be missing.
    """
    changed = _with_entries(
        config, lambda _, entries: [_entry(entry) for entry in entries]
    )
    languages = (changed.get("text") or {}).get("tokenizers") or ()
    for field in (
        *_NAMES,
        *(("text", "tokenizers", language, "name") for language in languages),
    ):
        changed = _with_place(changed, field)
    return changed


def _with_place(config: Any, field: Sequence[str]) -> Any:
    """Makes the path of the user's code in one field absolute."""
    if not field:
        return _absolute_names(config)
    first, *rest = field
    if not isinstance(config, Mapping) or first not in config:
        return config
    return {**config, first: _with_place(config[first], rest)}


def _absolute_names(value: Any) -> Any:
    """Makes a name absolute, or those in a mixing and its phases."""
    if own_functions.is_own(value):
        return own_functions.absolute(value)
    if not isinstance(value, Mapping):
        return value
    changed = {
        name: _absolute_names(part) if name in ("name", "mixing") else part
        for name, part in value.items()
    }
    if isinstance(changed.get("phases"), _LISTS):
        changed["phases"] = [
            _absolute_names(phase) for phase in changed["phases"]
        ]
    return changed


def code(config: Any) -> set[str]:
    """The absolute paths of all user code that a config names.

    Args:
        config: plain values, or a part of them.
    """
    if own_functions.is_own(config):
        file = own_functions.absolute(config).rpartition(":")[0]
        return {file} if file.endswith(".py") else set()
    if isinstance(config, Mapping):
        return set().union(*map(code, config.values()))
    if isinstance(config, _LISTS):
        return set().union(*map(code, config))
    return set()


def relocated(
    config: Mapping[str, Any],
    other: Mapping[str, Any],
    known_code: Mapping[str, str],
) -> dict[str, Any]:
    """The config with missing files replaced by `other`'s paths.

    Files may be moved. Whether they have the same contents is checked by the
    digests of a run's data.

    Args:
        config: a run's config, as from `absolute`.
        other: the config to compare with, as from `absolute`.
        known_code: digests of the user's own code by the paths that the run
            recorded, which may be older than those of its config.
    """
    config = _with_paths(config, _moved_code(config, other, known_code))

    def move(field: tuple[str, ...], entries: Sequence[Any]) -> list[Any]:
        node = other
        for part in field:
            node = node.get(part) or {}
        known = {
            entry.get("name"): entry["files"]
            for entry in node
            if isinstance(entry, Mapping)
            and isinstance(entry.get("files"), Mapping)
        }
        return [_moved(entry, known) for entry in entries]

    return _with_entries(config, move)


def _moved_code(
    config: Mapping[str, Any],
    other: Mapping[str, Any],
    known_code: Mapping[str, str],
) -> dict[str, str]:
    """New paths of the user's moved code, by the paths in the config."""
    known = {(os.path.basename(p), known_code[p]) for p in known_code}
    new_paths = {
        (os.path.basename(path), digests.of_file(path)): path
        for path in filter(os.path.isfile, code(other) if known else ())
    }
    return {
        path: new
        for path in code(config)
        for (name, digest), new in new_paths.items()
        if name == os.path.basename(path)
        and (name, digest) in known
        and known_code.get(path, digest) == digest
        and not os.path.exists(path)
    }


def _with_paths(value: Any, paths: Mapping[str, str]) -> Any:
    """The value with new paths in the names of the user's code."""
    if not paths:
        return value
    if own_functions.is_own(value):
        file, _, name = value.rpartition(":")
        return f"{paths[file]}:{name}" if file in paths else value
    if isinstance(value, Mapping):
        return {name: _with_paths(part, paths) for name, part in value.items()}
    if isinstance(value, _LISTS):
        return [_with_paths(part, paths) for part in value]
    return value


def _moved(entry: Any, known: Mapping[str, Mapping[str, Any]]) -> Any:
    if not isinstance(entry, Mapping) or entry.get("name") not in known:
        return entry
    files, others = entry.get("files"), known[entry["name"]]
    if not isinstance(files, Mapping):
        return entry
    moved = {
        split: others[split]
        for split, path in files.items()
        if split in others and not _is_there(path) and _is_there(others[split])
    }
    return {**entry, "files": {**files, **moved}}


def _is_there(path: Any) -> bool:
    if isinstance(path, Mapping):
        return all(map(_is_there, path.values()))
    if isinstance(path, (list, tuple)):
        return all(map(_is_there, path))
    # A path in a bucket is checked by its reader.
    is_local = isinstance(path, str) and "://" not in path
    return not is_local or os.path.exists(path)


def _with_entries(
    config: Mapping[str, Any],
    change: Callable[[tuple[str, ...], Sequence[Any]], list[Any]],
) -> dict[str, Any]:
    """The config with changed entries in the fields that hold entries."""
    changed = dict(config)
    for field in _FIELDS:
        node = changed
        for part in field[:-1]:
            node[part] = dict(node.get(part) or {})
            node = node[part]
        entries = node.get(field[-1])
        if isinstance(entries, (list, tuple)):
            node[field[-1]] = change(field, entries)
    return changed


def _entry(entry: Any) -> Any:
    if isinstance(entry, Mapping) and isinstance(entry.get("metrics"), _LISTS):
        metrics = [
            own_functions.absolute(name)
            if isinstance(name, str) and own_functions.is_own(name)
            else name
            for name in entry["metrics"]
        ]
        entry = {**entry, "metrics": metrics}
    if isinstance(entry, Mapping) and own_functions.is_own(entry.get("type")):
        entry = {**entry, "type": own_functions.absolute(entry["type"])}
    if isinstance(entry, Mapping) and isinstance(entry.get("dataset"), str):
        dataset = own_builders.absolute(entry["dataset"])
        entry = {**entry, "dataset": dataset}
    if not isinstance(entry, Mapping) or "files" not in entry:
        return entry
    files = entry["files"]
    if not isinstance(files, Mapping):
        return entry  # the task will report what is wrong
    return {
        **entry,
        "files": {split: _path(path) for split, path in files.items()},
    }


def _path(path: Any) -> Any:
    if isinstance(path, Mapping):
        return {name: _path(part) for name, part in path.items()}
    if isinstance(path, (list, tuple)):
        return [_path(part) for part in path]
    if not isinstance(path, str) or not path or "://" in path:
        return path
    return os.path.abspath(os.path.expanduser(path))
