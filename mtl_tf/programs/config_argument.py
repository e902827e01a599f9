"""`--config=name[:arg]`, `--config=path.py[:arg]` and its overrides.

`config_files` loads the named config. ml_collections' config_flags then checks
and applies the overrides.
"""

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from absl import flags
from ml_collections import config_dict, config_flags

from mtl_tf.configs import base, fields
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.programs import adapting, config_files

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
_CHANGED = "_changed_by_hand"
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
    overrides = _overrides(argv)
    messages = adapting.change_optimizer(config, overrides)
    argv = [*argv[:1], *_checked_overrides(argv[1:], config)]
    with _override_errors():
        config_flags.DEFINE_config_dict(
            "config", config, flag_values=values, sys_argv=argv
        )
    values["config"].present = int(specified is not None)
    values["config"].messages = messages
    values["config"].overridden = tuple(overrides)
    return argv


def change(
    config: config_dict.ConfigDict, changes: Mapping[str, Any]
) -> list[str]:
    """Changes a config as command-line overrides do.

    Args:
        config: the config to change.
        changes: values by full field name.

    Returns:
        Messages for the user, in sentences.

    Raises:
        ConfigError: the config has no such field, or a group of fields would
            lose some.
    """
    if not isinstance(changes, Mapping):
        raise ConfigError(
            "changes must be a dict of values by field, such as "
            f"{{'training.epochs': 3}}, got {changes!r:.60}"
        )
    messages = adapting.change_optimizer(config, changes)
    for path, value in changes.items():
        field = _field(config, path)
        if isinstance(field, tuple) and isinstance(value, (list, tuple)):
            value = tuple(adapting.chosen_tasks(path, value, field))
        *parents, name = fields.names_of(path)
        if not fields.is_open(path):
            _check_group(path, field, value)
        holder = _field(config, ".".join(parents)) if parents else config
        with config.ignore_type(), config.unlocked():
            holder[name] = _as_dict(value)
    # An attribute of the object; those of a ConfigDict are its fields.
    object.__setattr__(config, _CHANGED, (*changed(config), *changes))
    return messages


def changed(config: Any) -> tuple[str, ...]:
    """The fields that `change` has changed in a config, not in its copies."""
    return getattr(config, "__dict__", {}).get(_CHANGED, ())


_GROUPS = (Mapping, config_dict.ConfigDict)


def _check_group(path: str, field: Any, value: Any) -> None:
    """Refuses only some of a group's fields, as they would replace it all."""
    if not isinstance(field, config_dict.ConfigDict):
        return
    keys = list(value) if isinstance(value, _GROUPS) else []
    if set(field) - set(keys):
        name = keys[0] if keys else next(iter(field))
        raise ConfigError(
            f"{path} is a group of fields: change each by its whole name, such "
            f"as {f'{path}.{name}'!r}"
        )


def _as_dict(value: Any) -> Any:
    return config_dict.ConfigDict(value) if isinstance(value, dict) else value


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
        field = _field(config, path)
        if value is None and not isinstance(field, bool) and pending:
            value = pending.pop(0)
        if isinstance(field, tuple) and value is not None:
            items = adapting.chosen_tasks(path, _items(path, value), field)
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
    if is_dict and not isinstance(_literal(value), dict):
        fields = ", ".join(sorted(field.keys()))
        raise ConfigError(
            f"config.{path} must be a dict such as \"{{'name': ...}}\", "
            f"got {value!r}; or set one of its fields: {fields}"
        )


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


def _items(path: str, value: str) -> list:
    """Parses a tuple in Python's notation, or as `a,b`."""
    literal = _literal(value.strip())
    if isinstance(literal, (tuple, list)):
        return list(literal)
    if not isinstance(literal, str):
        return [literal]
    if literal[:1] in ("(", "[", "{"):
        raise ConfigError(f"config.{path}: {value!r} is not a Python literal")
    items = (item.strip() for item in literal.split(","))
    return [_literal(item) for item in items if item]


def _field(config: config_dict.ConfigDict, path: str) -> Any:
    """The value of the field of an override; makes a task's field."""
    value: Any = config
    walked: list[str] = []
    for name in fields.names_of(path):
        parent = ".".join(["config", *walked])
        if not isinstance(value, config_dict.ConfigDict):
            raise ConfigError(f"--config.{path}: {parent} has no fields")
        if name and name not in value and ".".join(walked) in fields.BY_TASK:
            if "." in name:
                raise ConfigError(
                    f"--config.{path}: a task with a dot in its name can have "
                    f"no field in {parent}; name it without"
                )
            # config_flags changes only fields that exist.
            with config.unlocked():
                value[name] = 1.0
        if name not in value:
            fields.check_renamed(path)
            others = fields.namesakes(path, config)
            raise ConfigError(_unknown_field(path, parent, name, value, others))
        value = value[name]
        walked.append(name)
    return value


def _unknown_field(
    path: str,
    parent: str,
    name: str,
    fields: config_dict.ConfigDict,
    elsewhere: Sequence[str],
) -> str:
    message = f"unknown config field {path!r}: {parent} has no {name!r}; "
    message += hint(name, fields.keys(), elsewhere)
    if "name" in fields and parent != "config":
        message += (
            f" (options of another choice are given together: --{parent}="
            f"\"{{'name': ..., '{name}': ...}}\")"
        )
    return message


@contextlib.contextmanager
def _override_errors() -> Iterator[None]:
    try:
        yield
    except (flags.Error, AttributeError, KeyError, TypeError, ValueError) as e:
        raise ConfigError(" ".join(str(e).split()))
