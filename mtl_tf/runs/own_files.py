"""Paths of a config's own tasks, so that they hold from any folder."""

import os
from collections.abc import Mapping
from typing import Any

_FIELDS = (
    ("tasks",),
    ("text", "vocabulary_tasks"),
    ("evaluation", "group"),
)


def absolute(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with the paths of its tasks' files from the root on.

    A run is scored and continued from other folders than that in which it
    began.

    Args:
        config: as plain values. Parts that it lacks are no mistake here.
    """
    made = dict(config)
    for field in _FIELDS:
        here = made
        for part in field[:-1]:
            here[part] = dict(here.get(part) or {})
            here = here[part]
        entries = here.get(field[-1])
        if isinstance(entries, (list, tuple)):
            here[field[-1]] = [_entry(entry) for entry in entries]
    return made


def _entry(entry: Any) -> Any:
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
    if isinstance(path, (list, tuple)):
        return [_path(one) for one in path]
    if not isinstance(path, str) or not path or "://" in path:
        return path
    return os.path.abspath(path)
