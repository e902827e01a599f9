"""Config values as JSON holds them: a run writes its config down."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError

# What TensorFlow's integers hold.
_INTEGERS = 2**63


def plain(path: str, value: Any) -> Any:
    """A value made of what JSON has; numbers of NumPy become Python's.

    Args:
        path: of the field, for errors.
        value: what a config holds there.

    Raises:
        ConfigError: it is, or holds, something else; the message names where.
    """
    if isinstance(value, Mapping):
        return _mapping(path, value)
    if isinstance(value, (list, tuple)):
        items = [plain(f"{path}[{n}]", item) for n, item in enumerate(value)]
        return type(value)(items) if type(value) in (list, tuple) else items
    if isinstance(value, np.generic):
        return plain(path, value.item())
    if isinstance(value, np.ndarray):
        return plain(path, value.tolist())
    if isinstance(value, str):
        return _text(path, value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -_INTEGERS <= value < _INTEGERS:
            raise ConfigError(
                f"{path} must be an integer of 64 bits, got one of "
                f"{len(str(abs(value)))} digits"
            )
        return value
    if isinstance(value, float):
        return value
    if inspect.isclass(value) or inspect.isfunction(value):
        raise ConfigError(
            f"{path} must name your own code by its place, such as "
            f"'my_file.py:{value.__name__}', got {value!r:.60} "
            "(docs/own_code.md)"
        )
    raise ConfigError(
        f"{path} must be something that JSON can hold (a number, a string, "
        f"True, False, None, or a list or dict of such), got {value!r} of the "
        f"type {type(value).__name__}"
    )


def _mapping(path: str, value: Mapping) -> dict[str, Any]:
    values = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ConfigError(
                f"the names of fields below {path or 'the config'} must be "
                f"strings, got {key!r}"
            )
        item_path = f"{path}.{_text(path, key)}" if path else key
        values[key] = plain(item_path, item)
    return values


def _text(path: str, value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{path or 'a field of the config'} must be text that UTF-8 can "
            f"hold, got {value!r}: the character {error.start + 1} is half of "
            "a surrogate pair, or was no UTF-8 where it comes from"
        )
    if "\0" in value:
        raise ConfigError(
            f"{path or 'a field of the config'} must be text without the "
            f"character NUL, which no path can hold, got {value!r:.60}"
        )
    return value
