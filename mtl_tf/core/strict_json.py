"""Strict JSON: RFC 8259 has neither NaN nor infinities."""

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(value: Any, indent: int | None = None) -> str:
    """Like `json.dumps`, with null for NaN and infinities.

    Args:
        value: a value for `json.dumps`.
        indent: spaces per level; None writes one line.
    """
    options = {"indent": indent, "ensure_ascii": False, "allow_nan": False}
    try:
        return json.dumps(value, **options)
    except ValueError:
        return json.dumps(_finite(value), **options)


def _finite(value: Any) -> Any:
    """The value with None for NaN and infinities, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_finite, value))
    return value
