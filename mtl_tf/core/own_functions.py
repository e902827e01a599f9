"""Functions of the user's own that a config names."""

import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import Any

from mtl_tf.core import neighbours
from mtl_tf.core.errors import ConfigError


def is_own(name: str) -> bool:
    """Whether a name is that of such a function: it has a place before it."""
    return ":" in name


def name_of(place: str) -> str:
    """The name of the function itself."""
    return place.rpartition(":")[2]


def absolute(place: str) -> str:
    """The place with the path of its file, if it is one, from the root on."""
    file, _, name = place.rpartition(":")
    if not file.endswith(".py"):
        return place
    return f"{os.path.abspath(os.path.expanduser(file))}:{name}"


def load(place: str, noun: str = "function") -> Callable[..., Any]:
    """Imports a function, or a class.

    Args:
        place: "PATH.py:NAME" or "PACKAGE.MODULE:NAME".
        noun: what it is called in messages.

    Raises:
        ConfigError: there is no such file, module or function, or importing
            it fails.
    """
    function = attribute(place, noun)
    if not callable(function):
        raise ConfigError(f"{place} is no {noun}, but {function!r:.60}")
    return function


def attribute(place: str, noun: str) -> Any:
    """Imports what a place names; arguments and errors are those of `load`."""
    module, _, name = place.rpartition(":")
    try:
        if module.endswith(".py"):
            imported = _of_file(module)
        else:
            imported = importlib.import_module(module)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{place}: importing {module} fails: "
            f"{type(error).__name__}: {error}"
        )
    if not hasattr(imported, name):
        raise ConfigError(f"{place}: {module} has no {noun} {name!r}")
    return getattr(imported, name)


def _of_file(path: str) -> Any:
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise ConfigError(f"there is no file {path}")
    name = "mtl_tf_own_" + os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with neighbours.importable(os.path.dirname(path)):
        spec.loader.exec_module(module)
    return module
