"""JSON that every reader takes: RFC 8259 knows neither NaN nor infinities."""

import json
import math
from collections.abc import Mapping
from typing import Any


def dumps(value: Any, indent: int | None = None) -> str:
    """As `json.dumps`, with null for numbers that JSON has not.

    Args:
        value: of what `json.dumps` takes.
        indent: spaces before each level; None writes one line.
    """
    options = {"indent": indent, "ensure_ascii": False, "allow_nan": False}
    try:
        return json.dumps(value, **options)
    except ValueError:
        return json.dumps(_finite(value), **options)


def _finite(value: Any) -> Any:
    """The value with None in place of NaN and infinities, in any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_finite, value))
    return value
