"""The heads of a model: one for each kind of task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.layers.crf_constraints import (
    Constraints,
    allowed_transitions,
    span_scheme,
)
from mtl_tf.models.registry import HEADS

# How tagging tasks are decoded if nothing is said.
TAGGING = {"decoder": "crf", "constraints": True}


def make_heads(
    tasks: Sequence[Mapping],
    sharing: str = "private",
    tagging: Mapping | None = None,
    parts: Mapping | None = None,
) -> dict[str, keras.layers.Layer]:
    """Makes the head of each kind of task, by kind.

    Every head has a slice for every task, so that a task has one number
    throughout a model; those of other kinds' tasks have a single label and
    are not used.

    Args:
        tasks: "name", "kind" and "labels" of each, and maybe "scheme", that
            of its span labels (see `allowed_transitions`), "" if they are
            none; without one it is told from them (see `span_scheme`).
        sharing: "private", or "shared": one head for all tasks
            (classification only).
        tagging: "decoder" ("crf" or "softmax") and "constraints": whether
            transitions that a scheme of span labels does not have are
            forbidden (the CRF only).
        parts: "init", see `layers.base.check_init`, and "dtype".

    Raises:
        ConfigError: a kind, a field or a value is wrong.
    """
    heads = {}
    for kind in sorted({task["kind"] for task in tasks}):
        head: Callable[..., Any] = look_up(kind, HEADS, "kind of task")
        counts = [
            len(task["labels"]) if task["kind"] == kind else 1 for task in tasks
        ]
        own = {"sharing": sharing}
        if kind == "tagging":
            own = _of_tagging(tasks, sharing, TAGGING | dict(tagging or {}))
        heads[kind] = head(counts, name=kind, **own, **(parts or {}))
    return heads


def _of_tagging(tasks: Sequence[Mapping], sharing: str, options: Mapping):
    """The arguments of a `TaggingHead` beside the usual ones."""
    if sharing != "private":
        raise ConfigError(
            "model.head.sharing must be 'private' where there are tagging "
            f"tasks, got {sharing!r}"
        )
    own = {"decoder": options["decoder"]}
    if options["decoder"] == "crf" and options["constraints"]:
        own["constraints"] = _constraints(tasks)
    return own


def _constraints(tasks: Sequence[Mapping]) -> list[Constraints | None]:
    found = []
    for task in tasks:
        scheme = None
        if task["kind"] == "tagging":
            told = span_scheme(task["labels"])
            scheme = task.get("scheme", told)
        bound = allowed_transitions(task["labels"], scheme) if scheme else None
        found.append(bound)
    return found
