"""The required contents of the JSON files in a run directory."""

import json
import os
from collections.abc import Mapping
from typing import Any

from mtl_tf.core.errors import RunError

_NUMBER = (int, float)
_TASK = {"name": str, "labels": list, "metrics": list, "loss_weight": _NUMBER}
_CONFIG = {
    "tasks": list,
    "text": {"tokenizer": dict},
    "pipeline": dict,
    "model": {"scheme": {"name": str}},
    "training": {"optimizer": dict},
    "evaluation": dict,
}
_SCORES = {"tasks": {"*": {"primary": str}}, "mean": dict, "split?": str}

# Of a line of metrics.jsonl, and what learning curves need of one.
_ENTRY = {"step": int}
_EVALUATION = {
    "epoch": _NUMBER,
    "train_loss": dict,
    "validation": {"tasks": {"*": dict}, "mean": object},
}

# File name to its shape: a type, several types, {field: shape}, {"field?":
# shape} for optional fields, {"*": shape of every value}, or [shape of every
# item].
_SHAPES: dict[str, Any] = {
    "batches.json": {"steps_per_epoch": int},
    "best.json": {"weights": str, "step": int, "score": _NUMBER},
    "config.json": _CONFIG,
    "data.json": {"boundaries": (list, dict), "tasks": dict, "axes?": list},
    "failure.json": {"error": str},
    "fitted.json": {"*": dict},
    "labels.json": {"tasks": [_TASK]},
    "metrics.jsonl": [_EVALUATION],
    "results.json": {**_SCORES, "run?": dict, "other_splits?": {"*": _SCORES}},
    "setting.json": {"overrides": list, "vectors": str},
    "sweep_config.json": dict,
    "transfer.json": {"config": dict},
}


def check(path: str, value: Any) -> None:
    """Refuses a JSON file without the required contents.

    Args:
        path: the file's path.
        value: its contents.

    Raises:
        RunError: something is missing or wrong; the message names it.
    """
    wrong = _wrong(_SHAPES.get(os.path.basename(path)), value, "")
    if wrong:
        raise RunError(
            f"{path} is damaged: {wrong}. Restore it from a copy, or begin "
            "the run anew in another --model_dir"
        )


def entry_of(line: str) -> dict[str, Any] | None:
    """The entry in a line of `metrics.jsonl`; None if it holds none."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return None if _wrong(_ENTRY, entry, "") else entry


def _wrong(shape: Any, value: Any, place: str) -> str:
    """Describes what is wrong at a place; "" if nothing is."""
    if shape is None:
        return ""
    if isinstance(shape, list):
        if not isinstance(value, list) or not value:
            return _not(place, "a list that is not empty", value)
        parts = [
            (shape[0], item, f"{place}[{n}]") for n, item in enumerate(value)
        ]
    elif isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            return _not(place, "an object", value)
        parts = []
        for name, inner in shape.items():
            if name == "*":
                parts += [
                    (inner, v, _below(place, k)) for k, v in value.items()
                ]
            elif name.endswith("?"):
                name = name[:-1]
                if name in value:
                    parts.append((inner, value[name], _below(place, name)))
            elif name not in value:
                return f"{_below(place, name)} is missing"
            else:
                parts.append((inner, value[name], _below(place, name)))
    else:
        is_bool = isinstance(value, bool)
        if isinstance(value, shape) and not is_bool:
            return ""
        return _not(place, _NAMES.get(shape, "a number"), value)
    problems = (_wrong(*part) for part in parts)
    return next(filter(None, problems), "")


_NAMES = {
    str: "a string",
    int: "an integer",
    list: "a list",
    dict: "an object",
    (list, dict): "a list or an object",
}


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _not(place: str, expected: str, value: Any) -> str:
    return f"{place or 'it'} must be {expected}, found {value!r:.60}"
