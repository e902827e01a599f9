"""Files of older run directories, made what today's code writes.

`RunDirectory.read` passes every file through `upgraded`, so that no other
code knows what older versions wrote. Configs are stamped with the version of
their fields, because a scheme's options may be left out at any time.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from mtl_tf.configs import fields
from mtl_tf.configs.older import config_of_today, entry_of_today

VERSION = fields.VERSION


def stamped(name: str, value: Any) -> Any:
    """What is written into a file for a value of today: says its version.

    Args:
        name: of the file in its run directory.
        value: what today's code makes.
    """
    name = os.path.basename(name)
    if name in _OF_CONFIGS:
        return {**value, "version": VERSION}
    if name in _WITH_CONFIG:
        return {**value, "config": {**value["config"], "version": VERSION}}
    return value


def upgraded(name: str, value: Any) -> Any:
    """The contents of a file as today's code would have written them.

    Args:
        name: of the file in its run directory.
        value: what was read of it, or `stamped` is to be written into it:
            what is of today stays as it is, but for fields that it leaves out.
    """
    upgrade = _UPGRADES.get(os.path.basename(name))
    return upgrade(value) if upgrade and isinstance(value, Mapping) else value


def _labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **labels,
        "tasks": [entry_of_today(task) for task in labels["tasks"]],
    }


def _data(data: Mapping[str, Any]) -> dict[str, Any]:
    """The axes had no names: one was of texts, two of pairs of languages."""
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


# File -> what makes its contents those of today.
_OF_CONFIGS = ("config.json", "sweep_config.json")
_WITH_CONFIG = ("transfer.json",)
_UPGRADES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    **dict.fromkeys(_OF_CONFIGS, config_of_today),
    **dict.fromkeys(_WITH_CONFIG, _with_config),
    "data.json": _data,
    "labels.json": _labels,
    "results.json": _results,
}
