"""Files of run directories that older versions wrote: the one place for it."""

import os
from typing import Any


def upgraded(name: str, value: Any) -> Any:
    """What this version would have written.

    Args:
        name: of the file in its run directory, such as "labels.json".
        value: what it holds.
    """
    upgrade = _UPGRADES.get(os.path.basename(name))
    return upgrade(value) if upgrade else value


def _task(task: Any) -> Any:
    """A task's description, or its entry in a config."""
    if isinstance(task, dict) and "kind" in task:
        task = {"type" if k == "kind" else k: v for k, v in task.items()}
    return task


def _config(config: dict[str, Any]) -> dict[str, Any]:
    evaluation = config.get("evaluation", {})
    text = config.get("text", {})
    for part, field in (
        (config, "tasks"),
        (evaluation, "group"),
        (text, "vocabulary_tasks"),
    ):
        if field in part:
            part[field] = [_task(entry) for entry in part[field]]
    return config


def _labels(labels: dict[str, Any]) -> dict[str, Any]:
    return {**labels, "tasks": [_task(task) for task in labels["tasks"]]}


def _data(data: dict[str, Any]) -> dict[str, Any]:
    """Boundaries had no names: of texts, or of pairs of languages."""
    if "axes" not in data:
        pairs = isinstance(data["boundaries"][0], list)
        data["axes"] = ["source", "target"] if pairs else ["text"]
    return data


def _results(results: dict[str, Any]) -> dict[str, Any]:
    parts = [results, *results.get("other_splits", {}).values()]
    for part in parts:
        tasks = part.get("tasks", {})
        part["tasks"] = {name: _task(task) for name, task in tasks.items()}
    return results


_UPGRADES = {
    "config.json": _config,
    "data.json": _data,
    "labels.json": _labels,
    "results.json": _results,
}
