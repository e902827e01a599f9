"""Functions and classes of the user's own, named in a config.

A config gives their place, "my_file.py:Name" or "package.module:Name".
"""

import glob
import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from mtl_tf.core import neighbours
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint

# Loaded files; errors in them are the user's.
_FILES: set[str] = set()
# Copies that replace missing files, by the files' paths.
_COPIES: dict[str, str] = {}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_OF_KERAS = "Exception encountered when calling"
# How TensorFlow begins its message on a mistake in what it traces.
_TRACED = "in user code:"
_TRACED_FRAME = re.compile(r'File "(.+)", line (\d+), in (\w+)')


def is_own(name: Any) -> bool:
    """Whether a name refers to own code, that is, has a place before it."""
    return isinstance(name, str) and ":" in name


def name_of(place: str) -> str:
    """The name of the function in a place."""
    return place.rpartition(":")[2]


def absolute(place: str) -> str:
    """The place with an absolute path, if it has a path."""
    file, _, name = place.rpartition(":")
    if not file.endswith(".py"):
        return place
    return f"{os.path.abspath(os.path.expanduser(file))}:{name}"


def stand_in(path: str, copy: str) -> None:
    """Registers a copy to read if a file does not exist.

    Args:
        path: the file's absolute path.
        copy: the copy's path.
    """
    _COPIES[path] = copy


def load(place: str, noun: str = "function") -> Callable[..., Any]:
    """Imports a function, or a class.

    Args:
        place: "PATH.py:NAME" or "PACKAGE.MODULE:NAME".
        noun: its name in messages.

    Raises:
        ConfigError: the file, module or function does not exist, or importing
            it fails.
    """
    function = attribute(place, noun)
    if not callable(function):
        raise ConfigError(f"{place} is no {noun}, but {function!r:.60}")
    return function


def load_class(place: str, base: type) -> Any:
    """Imports a class.

    Args:
        place: see `load`.
        base: the required base class.

    Raises:
        ConfigError: as for `load`, or it is no such class.
    """
    loaded = load(place, "class")
    if not isinstance(loaded, type) or not issubclass(loaded, base):
        raise ConfigError(
            f"{place} must be a class of {base.__module__}.{base.__qualname__}"
            f", got {loaded!r:.60}"
        )
    return loaded


def keywords(function: Callable[..., Any], but: Iterable[str] = ()) -> list:
    """The keyword arguments of a function or a constructor.

    Args:
        function: the function or the class.
        but: names to leave out.
    """
    kinds = (
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in kinds and name not in but
    ]


def check_options(
    place: str, options: Iterable[str], known: Iterable[str]
) -> None:
    """Refuses options that a class does not take.

    Raises:
        ConfigError: there is one; the message offers the nearest names.
    """
    known = list(known)
    for option in options:
        if option not in known:
            raise ConfigError(
                f"{place} has no option {option!r}; {hint(option, known)}"
            )


def complaint(error: BaseException) -> str:
    """One line on an exception raised inside the user's own code.

    Args:
        error: the exception.

    Returns:
        File, line and function of the user's code, and the exception; "" if
        none of the user's code was running.
    """
    if isinstance(error, SyntaxError) and error.filename in _FILES:
        return f"{error.filename}:{error.lineno}: {_error_line(error)}"
    frames = [
        (frame.filename, frame.lineno, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    # TensorFlow may have only written them down.
    frames += _TRACED_FRAME.findall(_traced(error)[0])
    frames = [frame for frame in frames if frame[0] in _FILES]
    if not frames:
        return ""
    file, line, function = frames[-1]
    inside = "" if function == "<module>" else f"in {function}: "
    return f"{file}:{line}: {inside}{_error_line(error)}"


def _error_line(error: BaseException) -> str:
    """The class of an exception, and the first line of its description."""
    name = type(error).__name__
    text = error.msg if isinstance(error, SyntaxError) else _traced(error)[1]
    lines = [_COLOURS.sub("", line).strip() for line in text.splitlines()]
    lines = [line.removeprefix(f"{name}: ") for line in lines if line]
    if lines and lines[0].startswith(_OF_KERAS):
        lines = lines[1:]  # Keras puts the layer's name before the message.
    return f"{name}: {lines[0] if lines else 'no message'}"


def _traced(error: BaseException) -> tuple[str, str]:
    """The frames that TensorFlow put before a message, and the message."""
    text = str(error)
    if not text.startswith(_TRACED):
        return "", text
    frames, _, message = text.removeprefix(_TRACED).strip().partition("\n\n")
    return frames, message


def attribute(place: str, noun: str) -> Any:
    """Imports what a place names; arguments and errors as for `load`."""
    module, _, name = place.rpartition(":")
    try:
        if module.endswith(".py"):
            imported = _of_file(module, name)
        else:
            imported = importlib.import_module(module)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        error_text = complaint(error) or f"{type(error).__name__}: {error}"
        raise ConfigError(f"{place}: importing {module} fails: {error_text}")
    if not module.startswith("mtl_tf."):
        _FILES.add(getattr(imported, "__file__", None) or "")
    if not hasattr(imported, name):
        raise ConfigError(
            f"{place}: {module} has no {noun} {name!r}; "
            f"{hint(name, _names_in(imported))}"
        )
    return getattr(imported, name)


def _names_in(module: Any) -> list[str]:
    """The functions and classes that are defined in a module.

    If there are none, as in packages that only collect them, all that it has.
    """
    there = {
        name: value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_")
    }
    defined = [
        name
        for name, value in there.items()
        if getattr(value, "__module__", None) == module.__name__
    ]
    return defined or list(there)


def _of_file(path: str, name: str) -> Any:
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        path = _COPIES.get(path, path)
    if not os.path.isfile(path):
        folder, file = os.path.split(path)
        beside = [
            os.path.basename(other)
            for other in glob.glob(os.path.join(glob.escape(folder), "*.py"))
        ]
        raise ConfigError(
            f"there is no file {path} with {name} (a trained run needs its own "
            f"code where that was in its training); {hint(file, beside)}"
        )
    _FILES.add(path)
    called = "mtl_tf_own_" + os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(called, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[called] = module  # Dataclasses look up their module there.
    with neighbours.importable(os.path.dirname(path)):
        spec.loader.exec_module(module)
    return module
