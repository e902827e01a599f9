"""Look-up by name with nearest-name hints, and reserved names."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from mtl_tf.core.errors import ConfigError

T = TypeVar("T")

#: Reserved names, as an export has a signature for each task: three names that
#: servers use, and "signatures", which a SavedModel cannot have.
RESERVED_TASKS = ("serving_default", "serve", "train", "signatures")


def hint(
    name: str, options: Iterable[str], elsewhere: Iterable[str] = ()
) -> str:
    """A sentence that offers the names nearest to `name`, or all names.

    Args:
        name: the given name.
        options: the valid names.
        elsewhere: more likely meanings, which are offered first.
    """
    options = sorted(set(options))
    near = difflib.get_close_matches(name, options, n=3, cutoff=0.5)
    near = [*elsewhere, *near][:4]
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}?"
    shown = [name or "''" for name in options[:40]]
    listed = ", ".join(shown) + (", ..." if len(options) > 40 else "")
    return f"known: {listed or 'none'}"


def look_up(name: str, options: Mapping[str, T], noun: str) -> T:
    """Returns `options[name]`.

    Args:
        name: the name that the user gave.
        options: the values by valid name.
        noun: the kind of thing, such as "task", for the message.

    Raises:
        ConfigError: `name` is unknown; the message offers the nearest names.
    """
    if isinstance(name, str) and name in options:
        return options[name]
    raise ConfigError(f"unknown {noun} {name!r}; {hint(str(name), options)}")


def completed(name: str, config: Mapping | None, default: Mapping) -> dict:
    """`config` with the values of `default` for the fields that it lacks.

    Args:
        name: the path of the fields, such as "model.dropout".
        config: the fields that the user gave; None for none.
        default: all known fields.

    Raises:
        ConfigError: a field is unknown; the message offers the nearest names.
    """
    for field in config or {}:
        look_up(field, default, f"field of {name}")
    return dict(default) | dict(config or {})
