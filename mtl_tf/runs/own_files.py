"""Paths of a config's own code and data, so that they hold from any folder."""

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
# What may be of the user's own; its path is a part of the name.
_NAMES = (
    ("model", "scheme", "name"),
    ("text", "tokenizer", "name"),
    ("training", "optimizer", "name"),
    ("training", "optimizer", "schedule"),
    ("training", "loss_weighting"),
    ("pipeline", "mixing"),
)


def absolute(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the paths of its files from the root on.

    They are those of its tasks and of the user's own code.

    A run is scored and continued from other folders than that in which it
    began.

    Args:
        config: as plain values. Parts that it lacks are no mistake here.
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
    """The config with a field that names the user's own code by its path."""
    if not field:
        return _absolute_names(config)
    first, *rest = field
    if not isinstance(config, Mapping) or first not in config:
        return config
    return {**config, first: _with_place(config[first], rest)}


def _absolute_names(value: Any) -> Any:
    """A name, or a mixing of one, in whose phases there may be others."""
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
    """The files of the user's own code that a config names, from the root on.

    Args:
        config: as plain values, or a part of it.
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
    """The config with `other`'s paths of files that are gone.

    Files may be moved: whether they hold what they held, the digests of a
    run's data tell.

    Args:
        config: of a run, as `absolute` returns it.
        other: what is compared with it, likewise.
        known_code: digests of the user's own code, by the paths that the run
            noted, which may be older than those of its config.
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
    """The new paths of files of the user's own code, by those in the config."""
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
    """The value with other paths in the names of the user's own code."""
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
    # Of a bucket, its reader tells.
    is_local = isinstance(path, str) and "://" not in path
    return not is_local or os.path.exists(path)


def _with_entries(
    config: Mapping[str, Any],
    change: Callable[[tuple[str, ...], Sequence[Any]], list[Any]],
) -> dict[str, Any]:
    """The config with other entries in the fields that hold some."""
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
        return entry  # the task will say what is wrong
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
