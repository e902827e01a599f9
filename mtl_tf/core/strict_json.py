"""Strict JSON: RFC 8259 has neither NaN nor infinities."""

import json
import math
from collections.abc import Mapping
from typing import Any

from mtl_tf.core.errors import ConfigError


def dumps(value: Any, indent: int | None = None) -> str:
    """Like `json.dumps`, with null for NaN and infinities.

    NumPy's numbers and arrays are written as numbers and lists: the code of a
    user, such as a task type's predictions, may leave them in results.

    Args:
        value: a value for `json.dumps`, maybe with values of NumPy in it.
        indent: spaces per level; None writes one line.

    Raises:
        ConfigError: it has what JSON does not hold, such as a set.
    """
    options = {"indent": indent, "ensure_ascii": False, "allow_nan": False}
    options["default"] = _plain
    try:
        return json.dumps(value, **options)
    except ValueError:
        return json.dumps(_finite(value), **options)


def _plain(value: Any) -> Any:
    """A value of NumPy, which is not imported here, as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ConfigError(
        f"JSON holds numbers, texts, lists and mappings, got {value!r:.60} "
        f"({type(value).__name__})"
    )


def _finite(value: Any) -> Any:
    """The value with None for NaN and infinities, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_finite, value))
    return value
