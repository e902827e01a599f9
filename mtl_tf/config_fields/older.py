"""Configs of older versions, made what today's code writes.

A field that a config lacks is one that its version did not have yet: it has
the value that does what code did before (`mtl_tf.config_fields.field`).
"""

import json
from collections.abc import Mapping
from typing import Any

from mtl_tf.config_fields import fields
from mtl_tf.core.errors import RunError

# What has forget gates: recurrent schemes, and features of characters.
_FORGETTING = (
    "arc_i",
    "arc_ii",
    "asp",
    "hyper_lstm",
    "lstm",
    "me_lstm",
    "meta_lstm",
    "psp",
    "ssp",
)


def config_of_today(config: Mapping[str, Any]) -> dict[str, Any]:
    """A plain config of any version as today's code would have written it.

    Args:
        config: as it was read, with its `version`; 1 if it has none.

    Raises:
        RunError: its version is none of those that there were.
    """
    version = config.get("version", 1)
    if not isinstance(version, int) or version > fields.VERSION:
        raise RunError(
            f"a config's version must be at most {fields.VERSION} here, got "
            f"{version!r}: it is damaged, or newer code of mtl_tf wrote it"
        )
    config = {k: v for k, v in config.items() if k != "version"}
    # Tuples are lists in JSON.
    default = json.loads(json.dumps(fields.defaults(version=version)))
    config = _completed(_renamed(config), default)
    # Also what today's configs leave out: to say a default is no difference.
    scheme, characters = (config["model"][c] for c in ("scheme", "characters"))
    for options in (scheme, characters):
        if options["name"] in _FORGETTING:
            options.setdefault("forget_bias", 0.0 if version < 2 else 1.0)
    if scheme["name"] in _FORGETTING:
        scheme.setdefault("pooling", "last")
    if scheme["name"] == "asp":
        mean = scheme.get("orthogonality_mean", version < 2)
        scheme["orthogonality_mean"] = bool(mean)  # 0 and 1 were taken, too
    wide = config["model"]["wide"]
    if version < 5 and not wide["alone"]:
        wide["choose_shares"] = True  # today's default, which says nothing then
    config["pipeline"]["mixing"] = _mixing(config["pipeline"]["mixing"])
    for group, name in (
        (config, "tasks"),
        (config["evaluation"], "group"),
        (config["text"], "vocabulary_tasks"),
    ):
        group[name] = [entry_of_today(entry) for entry in group[name]]
    return config


def entry_of_today(task: Any) -> Any:
    """A task's description, or its entry, whose type was called kind."""
    if not isinstance(task, Mapping):
        return task
    return {"type" if k == "kind" else k: v for k, v in task.items()}


def _renamed(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config with the names that its fields have by now."""
    config = _copied(config)
    for old, new in fields.RENAMED.items():
        *parents, last = old.split(".")
        group = _group(config, parents)
        if last in group:
            value = group.pop(last)
            *parents, last = new.split(".")
            _group(config, parents)[last] = value
    return config


def _copied(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of nested dicts; what they hold is shared."""
    return {
        name: _copied(value) if isinstance(value, Mapping) else value
        for name, value in config.items()
    }


def _group(config: dict[str, Any], path: list[str]) -> dict[str, Any]:
    for name in path:
        config = config.setdefault(name, {})
    return config


def _completed(
    config: dict[str, Any], default: Mapping[str, Any], path: str = ""
) -> dict[str, Any]:
    """A config with the defaults of the fields that it lacks.

    A group whose fields depend on a choice is completed only if it is not
    there at all: what it has belongs to its own choice.
    """
    for name, value in default.items():
        field = f"{path}{name}"
        if name not in config:
            config[name] = value
        elif isinstance(value, Mapping) and not fields.is_open(field):
            _completed(config[name], value, f"{field}.")
    return config


def _mixing(mixing: Mapping[str, Any]) -> dict[str, Any]:
    """The mixing of phases, and of a phase, was called its schedule."""
    mixing = {
        "mixing" if name == "schedule" else name: value
        for name, value in mixing.items()
    }
    if mixing.get("phases"):
        mixing["phases"] = [_mixing(phase) for phase in mixing["phases"]]
    if isinstance(mixing.get("mixing"), Mapping):
        mixing["mixing"] = _mixing(mixing["mixing"])
    return mixing
