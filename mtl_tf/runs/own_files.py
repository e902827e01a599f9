"""Paths of a config's own code and data, so that they hold from any folder."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.datasets import own_builders

_LISTS = (list, tuple)
_FIELDS = (
    ("tasks",),
    ("text", "vocabulary_tasks"),
    ("evaluation", "group"),
)


def absolute(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the paths of its tasks' and scheme's files from the root.

    A run is scored and continued from other folders than that in which it
    began.

    Args:
        config: as plain values. Parts that it lacks are no mistake here.
    """
    made = _with_entries(
        config, lambda _, entries: [_entry(entry) for entry in entries]
    )
    model = made.get("model") or {}
    scheme = model.get("scheme") or {}
    if own_functions.is_own(name := str(scheme.get("name", ""))):
        scheme = {**scheme, "name": own_functions.absolute(name)}
        made["model"] = {**model, "scheme": scheme}
    return made


def relocated(
    config: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, Any]:
    """The config with `other`'s paths of files that are gone.

    Files may be moved: whether they hold what they held, the digests of a
    run's data tell.

    Args:
        config: of a run, as `absolute` returns it.
        other: what is compared with it, likewise.
    """

    def move(field: tuple[str, ...], entries: Sequence[Any]) -> list[Any]:
        found = other
        for part in field:
            found = found.get(part) or {}
        known = {
            entry.get("name"): entry["files"]
            for entry in found
            if isinstance(entry, Mapping)
            and isinstance(entry.get("files"), Mapping)
        }
        return [_moved(entry, known) for entry in entries]

    return _with_entries(config, move)


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
    made = dict(config)
    for field in _FIELDS:
        here = made
        for part in field[:-1]:
            here[part] = dict(here.get(part) or {})
            here = here[part]
        entries = here.get(field[-1])
        if isinstance(entries, (list, tuple)):
            here[field[-1]] = change(field, entries)
    return made


def _entry(entry: Any) -> Any:
    if isinstance(entry, Mapping) and isinstance(entry.get("metrics"), _LISTS):
        metrics = [
            own_functions.absolute(name)
            if isinstance(name, str) and own_functions.is_own(name)
            else name
            for name in entry["metrics"]
        ]
        entry = {**entry, "metrics": metrics}
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
        return {name: _path(one) for name, one in path.items()}
    if isinstance(path, (list, tuple)):
        return [_path(one) for one in path]
    if not isinstance(path, str) or not path or "://" in path:
        return path
    return os.path.abspath(os.path.expanduser(path))
