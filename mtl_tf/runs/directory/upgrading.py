"""Converts files of older run directories to today's form.

`RunDirectory.read` passes every file through `upgraded`, so no other code knows
older forms. Configs have a version of their fields, because a missing option of
a scheme does not tell the version.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.older import config_of_today, entry_of_today

VERSION = fields.VERSION


def stamped(name: str, value: Any) -> Any:
    """Adds the version to a value that is to be written.

    Args:
        name: the file's name in its run directory.
        value: the value, in today's form.
    """
    name = os.path.basename(name)
    if name in _OF_CONFIGS:
        return {**value, "version": VERSION}
    if name in _WITH_CONFIG:
        return {**value, "config": {**value["config"], "version": VERSION}}
    return value


def upgraded(name: str, value: Any) -> Any:
    """The contents of a file in today's form.

    Args:
        name: the file's name in its run directory.
        value: the contents read, or a value that `stamped` is to write. A value
            in today's form is unchanged, except for missing fields.
    """
    upgrade = _UPGRADES.get(os.path.basename(name))
    return upgrade(value) if upgrade and isinstance(value, Mapping) else value


def _labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **labels,
        "tasks": [entry_of_today(task) for task in labels["tasks"]],
    }


def _data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Older axes had no names: one axis for texts, two for translation."""
    if "axes" in data or "boundaries" not in data:
        return dict(data)
    pairs = isinstance(data["boundaries"][0], list)
    return {**data, "axes": ["source", "target"] if pairs else ["text"]}


def _results(results: Mapping[str, Any]) -> dict[str, Any]:
    results = dict(results)
    if "tasks" in results:
        tasks = results["tasks"].items()
        results["tasks"] = {
            name: entry_of_today(scores) for name, scores in tasks
        }
    if "other_splits" in results:
        splits = results["other_splits"].items()
        results["other_splits"] = {n: _results(part) for n, part in splits}
    return results


def _with_config(value: Mapping[str, Any]) -> dict[str, Any]:
    return {**value, "config": config_of_today(value["config"])}


# File name to what converts its contents to today's form.
_OF_CONFIGS = ("config.json", "sweep_config.json")
_WITH_CONFIG = ("transfer.json",)
_UPGRADES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    **dict.fromkeys(_OF_CONFIGS, config_of_today),
    **dict.fromkeys(_WITH_CONFIG, _with_config),
    "data.json": _data,
    "labels.json": _labels,
    "results.json": _results,
}
