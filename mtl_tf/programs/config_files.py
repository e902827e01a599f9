"""Loads the config of `--config`: from the package, a file or a run."""

import contextlib
import importlib.util
import inspect
import json
import os
import pathlib
import re
import sys
import traceback
import types
from collections.abc import Iterator, Mapping
from typing import Any

from ml_collections import config_dict

from mtl_tf.config_fields import fields, older
from mtl_tf.core import neighbours
from mtl_tf.core.errors import ConfigError, MtlError, RunError
from mtl_tf.core.names import hint

_GET_CONFIG = re.compile(r"^def get_config\(", re.MULTILINE)


def shipped() -> dict[str, str]:
    """The paths of the configs in `mtl_tf/configs`, by name.

    The folder has other modules, too; a config has a function `get_config`.
    """
    from mtl_tf import configs

    folder = pathlib.Path(configs.__file__).resolve().parent
    return {
        path.stem: str(path)
        for path in folder.glob("*.py")
        if _GET_CONFIG.search(path.read_text(encoding="utf-8"))
    }


def load(specified: str) -> config_dict.ConfigDict:
    """Loads a config.

    The file may import modules from its own folder.

    Args:
        specified: `name`, `name:argument`, `path.py`, `path.py:argument` or the
            `config.json` of a run.

    Returns:
        The result of the file's `get_config`, or the run's config; not yet
        locked.

    Raises:
        ConfigError: the file does not exist, or has a mistake.
    """
    name, colon, argument = specified.partition(":")
    path = _find(name)
    if path.endswith(".json"):
        if colon:
            raise ConfigError(f"{path} takes no argument, got {argument!r}")
        return _of_run(path)
    beside = neighbours.importable(os.path.dirname(path))
    with _file_errors(path), beside:
        module = _import(path)
        get_config = getattr(module, "get_config", None)
        if not callable(get_config):
            raise ConfigError(f"{path} has no function get_config()")
        arguments = _arguments(path, get_config, argument if colon else None)
        config = get_config(*arguments)
    if isinstance(config, dict):
        config = config_dict.ConfigDict(config)
    if not isinstance(config, config_dict.ConfigDict):
        raise ConfigError(
            f"get_config() in {path} must return a ConfigDict, "
            f"got {type(config).__name__}"
        )
    return config


def _find(name: str) -> str:
    if name.endswith((".py", ".json")) or os.sep in name:
        if os.path.isfile(name):
            return os.path.abspath(name)
        raise ConfigError(f"there is no config file {name}")
    known = shipped()
    if name in known:
        return known[name]
    also = (
        f", or {name}.py for your own file"
        if os.path.isfile(name + ".py")
        else ""
    )
    raise ConfigError(f"unknown config {name!r}; {hint(name, known)}{also}")


def _of_run(path: str) -> config_dict.ConfigDict:
    """The config that a run has written, perhaps in an older version.

    Raises:
        ConfigError: it is another file, or damaged.
    """
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}")
    if not isinstance(config, dict) or "version" not in config:
        raise ConfigError(
            f"{path} is not the config.json of a run; one's own config is a "
            "Python file with a function get_config"
        )
    try:
        config = older.config_of_today(config)
    except (AttributeError, KeyError, TypeError):
        raise ConfigError(f"{path} is damaged: it is no config of a run")
    except RunError as error:
        raise ConfigError(f"{path}: {error}")
    return config_dict.ConfigDict(_with_tuples(config))


def _with_tuples(group: Mapping[str, Any]) -> dict[str, Any]:
    """Turns lists, JSON's form of tuples, into tuples, but not in entries."""
    return {
        name: _with_tuples(value)
        if isinstance(value, Mapping)
        else tuple(value)
        if isinstance(value, list)
        else value
        for name, value in group.items()
    }


def _import(path: str) -> types.ModuleType:
    stem = re.sub(r"\W", "_", os.path.basename(path)[: -len(".py")])
    spec = importlib.util.spec_from_file_location(f"mtl_tf_config_{stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _arguments(path: str, get_config: Any, argument: str | None) -> list[str]:
    try:
        parameters = inspect.signature(get_config).parameters
    except (TypeError, ValueError):
        return [] if argument is None else [argument]
    if argument is not None and not parameters:
        raise ConfigError(f"{path} takes no argument, got {argument!r}")
    needed = [p for p in parameters.values() if p.default is p.empty]
    if argument is None and needed:
        raise ConfigError(
            f"{path} needs an argument ({needed[0].name}): give it as "
            "--config=NAME:ARGUMENT"
        )
    return [] if argument is None else [argument]


@contextlib.contextmanager
def _file_errors(path: str) -> Iterator[None]:
    """Reports errors raised by a config file, with its line."""
    try:
        yield
    except MtlError:
        raise
    except SyntaxError as error:
        location = f"{error.filename or path}:{error.lineno}"
        raise ConfigError(f"{location}: {type(error).__name__}: {error.msg}")
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        in_file = [frame for frame in frames if frame.filename == path]
        location = f"{path}:{in_file[-1].lineno}" if in_file else path
        message = " ".join(str(error).split())
        for old, new in fields.RENAMED.items():
            # For a missing field, the error has only the last part of its name.
            if in_file and f".{old}" in (in_file[-1].line or ""):
                message += f" ({old} is called {new} by now)"
        raise ConfigError(f"{location}: {type(error).__name__}: {message}")
