"""The names that fields such as `model.scheme.name` may have.

Each list stands once, beside what it names, in modules that import
TensorFlow. It is read there, not imported: a mistake in a config is to be told
at once, and not after the seconds which that takes.
"""

import ast
import functools
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.names import look_up

_PACKAGE = pathlib.Path(__file__).parents[1]
_OPTIMIZERS = "training/optimizers/optimizers.py"
# Field -> module, the dict whose keys are the names, and what they name.
_LISTS = {
    "model.scheme.name": ("models/registry.py", "SCHEMES", "scheme"),
    "training.optimizer.name": (_OPTIMIZERS, "OPTIMIZERS", "optimizer"),
    "training.optimizer.schedule": (
        "training/optimizers/learning_rates.py",
        "SCHEDULES",
        "learning-rate schedule",
    ),
    "training.loss_weighting": (
        "training/loss_weighting.py",
        "LOSS_WEIGHTINGS",
        "loss weighting",
    ),
    "pipeline.mixing.name": ("pipelines/mixing.py", "MIXINGS", "mixing"),
}


# Of these, the user's own may be named by their place.
_MAY_BE_OWN = (
    "model.scheme.name",
    "training.optimizer.name",
    "training.optimizer.schedule",
    "training.loss_weighting",
    "pipeline.mixing.name",
)


def fields() -> tuple[str, ...]:
    """The fields whose names are known here."""
    return tuple(_LISTS)


def names(field: str) -> tuple[str, ...]:
    """What a field may be; () where the list cannot be read.

    Args:
        field: one of `fields()`.
    """
    module, variable, _ = _LISTS[field]
    value = _assigned(module, variable)
    if not isinstance(value, ast.Dict):
        return ()
    keys = [key.value for key in value.keys if isinstance(key, ast.Constant)]
    return tuple(keys) if len(keys) == len(value.keys) else ()


def check(config: Mapping[str, Any]) -> None:
    """Refuses names of schemes, optimizers and the like that do not exist.

    Raises:
        ConfigError: there is none; the nearest are offered.
    """
    for field, (_, _, noun) in _LISTS.items():
        value: Any = config
        for part in field.split("."):
            value = value[part]
        if field in _MAY_BE_OWN and own_functions.is_own(value):
            continue
        if known := names(field):
            look_up(value, dict.fromkeys(known), f"{noun} in {field}:")


def optimizer_options(name: str) -> dict[str, Any]:
    """The options of an optimizer with their defaults; {} if unknown."""
    value = _assigned(_OPTIMIZERS, "OPTIONS")
    return ast.literal_eval(value).get(name, {}) if value else {}


def may_be_corpus(name: str) -> bool:
    """Whether the groups of tasks that come with the package name `name`."""
    group = name.strip().lower().partition("/")[0]
    return group in re.findall(r'"(\w+)"', _source("tasks/splits/groups.py"))


@functools.cache
def _source(module: str) -> str:
    try:
        return (_PACKAGE / module).read_text(encoding="utf-8")
    except OSError:
        return ""  # as in a Bazel target that needs no other room


@functools.cache
def _assigned(module: str, variable: str) -> ast.expr | None:
    """What is assigned to a variable of a module."""
    for node in ast.parse(_source(module)).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value:
            targets = [node.target]
        if any(isinstance(t, ast.Name) and t.id == variable for t in targets):
            return node.value
    return None
