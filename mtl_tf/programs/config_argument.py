"""`--config=name[:arg]`, `--config=path.py[:arg]` and its overrides.

`config_files` loads the named config. ml_collections' config_flags then checks
and applies the overrides.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from absl import flags
from ml_collections import config_dict, config_flags

from mtl_tf.config_fields import changing, fields
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import config_files

HELP = (
    "the config: NAME of a shipped config (listed below), PATH.py of your own "
    "file with a function get_config, or the config.json of a run. "
    "NAME:ARGUMENT and PATH.py:ARGUMENT give get_config an argument"
)
OVERRIDE_HELP = (
    "change one field of the config: --config.training.epochs=3, "
    "--config.tasks=fdu_mtl/books,fdu_mtl/dvd, "
    "--config.pipeline.mixing=\"{'name': 'round_robin'}\""
)
_CONFIG = re.compile(r"--?config(=(?P<value>.*))?", re.DOTALL)
_OVERRIDE = re.compile(r"--?(no)?config\.(?P<path>[^=]*)(=(?P<value>.*))?", 16)


def split(argv: Sequence[str]) -> tuple[str | None, list[str]]:
    """Splits a command line into the value of `--config` and the rest."""
    specified, rest, waiting = None, [], False
    for index, argument in enumerate(argv):
        if waiting:
            specified, waiting = argument, False
        elif argument == "--":
            return specified, rest + list(argv[index:])
        elif index and (match := _CONFIG.fullmatch(argument)):
            specified, waiting = match["value"], match[1] is None
        else:
            rest.append(argument)
    return specified or None, rest


def without_overrides(argv: Sequence[str]) -> list[str]:
    """The command line without the overrides `--config.x=y`."""
    return [item for item in argv if not _OVERRIDE.fullmatch(item)]


def define(
    specified: str | None, argv: Sequence[str], values: flags.FlagValues
) -> list[str]:
    """Loads a config and defines the flag `config` and its overrides.

    Args:
        specified: the value of `--config`; None takes the default config.
        argv: the command line without `--config`, starting with the
            program's name.
        values: where the flags are defined; the overrides take effect when
            `values` parses the return value. `values["config"].present` says
            whether the command line named a config, `values["config"].messages`
            has messages for the user about its overrides, and
            `values["config"].overridden` has the fields that they set.

    Returns:
        `argv` with the overrides in config_flags' form.

    Raises:
        ConfigError: the config's file has a mistake, or an override names
            no field.
    """
    if specified is None:
        config = base.default_config()
    else:
        config = config_files.load(specified)
    argv = _spelled_out(argv, config)
    overrides = _overrides(argv)
    messages = changing.change_optimizer(config, overrides)
    argv = [*argv[:1], *_checked_overrides(argv[1:], config)]
    with _override_errors():
        config_flags.DEFINE_config_dict(
            "config", config, flag_values=values, sys_argv=argv
        )
    values["config"].present = int(specified is not None)
    values["config"].messages = messages
    values["config"].overridden = tuple(overrides)
    return argv


def _spelled_out(
    argv: Sequence[str], config: config_dict.ConfigDict
) -> list[str]:
    """The command line with a dict for a group of fields as its fields."""
    rest: list[str] = []
    pending = list(argv)
    while pending:
        argument = pending.pop(0)
        if argument == "--":
            return [*rest, argument, *pending]
        match = _OVERRIDE.fullmatch(argument)
        if not match or not changing.is_group(config, match["path"]):
            rest.append(argument)
            continue
        path, value = match["path"], match["value"]
        if value is None:
            value = pending.pop(0) if pending else ""
        given = changing.literal(value)
        for field, item in changing.single_fields(config, path, given).items():
            rest.append(f"--config.{field}={_written(item)}")
    return rest


def _written(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _checked_overrides(
    argv: Sequence[str], config: config_dict.ConfigDict
) -> list[str]:
    """The command line with overrides checked and written as --a=b."""
    rest: list[str] = []
    tuples: dict[str, list] = {}
    pending = list(argv)
    while pending:
        argument = pending.pop(0)
        match = _OVERRIDE.fullmatch(argument)
        if not match or argument == "--":
            rest.append(argument)
            continue
        path, value = match["path"], match["value"]
        field = changing.field_of(config, path)
        if value is None and not isinstance(field, bool) and pending:
            value = pending.pop(0)
        if isinstance(field, tuple) and value is not None:
            items = changing.chosen_tasks(path, _items(path, value), field)
            tuples.setdefault(path, []).extend(items)
        elif value is None or match[1]:
            rest.append(argument)
        else:
            _check_value(path, field, value)
            rest.append(f"--config.{_subscripted(path)}={value}")
    return rest + [
        f"--config.{_subscripted(path)}={tuple(items)!r}"
        for path, items in tuples.items()
    ]


def _subscripted(path: str) -> str:
    """A path as config_flags reads it, for names of tasks such as `en-de`."""
    first, *names = fields.names_of(path)
    return first + "".join(
        f".{name}" if name.isidentifier() else f"[{name!r}]" for name in names
    )


def _overrides(argv: Sequence[str]) -> dict[str, str]:
    """The overrides of a command line by field; the last value counts."""
    overrides = {}
    for argument, next_argument in zip(argv, [*argv[1:], ""]):
        if argument == "--":
            break
        if match := _OVERRIDE.fullmatch(argument):
            value = match["value"]
            overrides[match["path"]] = next_argument if value is None else value
    return overrides


def _check_value(path: str, field: Any, value: str) -> None:
    """Checks a value, with clearer messages than those of config_flags."""
    readers = {
        int: ("an integer", int),
        float: ("a number", float),
        bool: ("True or False", flags.BooleanParser().parse),
    }
    if type(field) in readers:
        noun, read = readers[type(field)]
        try:
            read(value)
        except ValueError:
            raise ConfigError(f"config.{path} must be {noun}, got {value!r}")
    is_dict = isinstance(field, config_dict.ConfigDict)
    if is_dict and not isinstance(changing.literal(value), dict):
        fields = ", ".join(sorted(field.keys()))
        raise ConfigError(
            f"config.{path} must be a dict such as \"{{'name': ...}}\", "
            f"got {value!r}; or set one of its fields: {fields}"
        )


def _items(path: str, value: str) -> list:
    """Parses a tuple in Python's notation, or as `a,b`."""
    literal = changing.literal(value.strip())
    if isinstance(literal, (tuple, list)):
        return list(literal)
    if not isinstance(literal, str):
        return [literal]
    if literal[:1] in ("(", "[", "{"):
        raise ConfigError(f"config.{path}: {value!r} is not a Python literal")
    items = (item.strip() for item in literal.split(","))
    return [changing.literal(item) for item in items if item]


@contextlib.contextmanager
def _override_errors() -> Iterator[None]:
    try:
        yield
    except (flags.Error, AttributeError, KeyError, TypeError, ValueError) as e:
        raise ConfigError(" ".join(str(e).split()))
