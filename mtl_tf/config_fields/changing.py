"""Changes of single fields of a config: by hand or by a grid.

A field is named by its dotted path. Some changes mean more than a field and its
value: tasks of a config are chosen by name, and another optimizer drops the
options of the former one.
"""

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ml_collections import config_dict

from mtl_tf.config_fields import choices, fields
from mtl_tf.config_fields.field import Group
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint

# What fields are in. A ConfigDict is no Mapping.
_GROUPS = (Mapping, config_dict.ConfigDict)

_CHANGED = "_changed_by_hand"
_OPTIMIZER = "training.optimizer.name"
_OPTIONS = "training.optimizer.options."


def change(
    config: config_dict.ConfigDict | dict[str, Any],
    changes: Mapping[str, Any],
    *,
    new_options: bool = False,
) -> list[str]:
    """Changes a config as command-line overrides do.

    Args:
        config: the config to change.
        changes: values by full field name. A dict for a group of fields, such
            as `training.optimizer`, changes those that it names.
        new_options: whether a choice such as `pipeline.mixing` may get options
            that it does not spell out.

    Returns:
        Messages for the user, in sentences.

    Raises:
        ConfigError: the config has no such field.
    """
    if not isinstance(changes, Mapping):
        raise ConfigError(
            "changes must be a dict of values by field, such as "
            f"{{'training.epochs': 3}}, got {changes!r:.60}"
        )
    changes = {
        path: value
        for group, whole in changes.items()
        for path, value in single_fields(config, group, whole).items()
    }
    messages = change_optimizer(config, changes)
    for path, value in changes.items():
        _set(config, path, value, new_options)
    if isinstance(config, config_dict.ConfigDict):
        # An attribute of the object; those of a ConfigDict are its fields.
        object.__setattr__(config, _CHANGED, (*changed(config), *changes))
    return messages


def changed(config: Any) -> tuple[str, ...]:
    """The fields that `change` has changed in a ConfigDict, not in copies."""
    return getattr(config, "__dict__", {}).get(_CHANGED, ())


def single_fields(config: Any, path: str, value: Any) -> dict[str, Any]:
    """The fields that a value for a group of them names, by path.

    Those of a choice, such as `model.scheme`, belong together: its dict is one
    value, as are those of all fields that are no groups.

    Raises:
        ConfigError: it is a group of fields, and the value is not a dict.
    """
    if not is_group(config, path):
        return {path: value}
    if not isinstance(value, _GROUPS):
        known = list(_value(config, path))
        raise ConfigError(
            f"config.{path} must be a dict of some of its fields, such as "
            f"{{{known[0]!r}: ...}}, got {value!r}; fields: "
            f"{', '.join(sorted(known))}"
        )
    return {
        single: inner
        for name, item in value.items()
        for single, inner in single_fields(
            config, f"{path}.{name}", item
        ).items()
    }


def is_group(config: Any, path: str) -> bool:
    """Whether a path is that of fields of which each has a value by itself."""
    declared = isinstance(fields.every().get(path), Group)
    is_open = fields.is_open(path)
    return (
        declared and not is_open and isinstance(_value(config, path), _GROUPS)
    )


def _value(config: Any, path: str) -> Any:
    for name in fields.names_of(path):
        if not isinstance(config, _GROUPS) or name not in config:
            return None
        config = config[name]
    return config


def _set(config: Any, path: str, value: Any, new_options: bool) -> None:
    *parents, last = fields.names_of(path)
    parent = ".".join(parents)
    holder = _value(config, parent) if parents else config
    is_new = new_options and last and fields.is_open(parent)
    if is_new and isinstance(holder, _GROUPS) and last not in holder:
        field = None
    else:
        field = field_of(config, path)
    if isinstance(field, (tuple, list)):
        items = [value] if isinstance(value, str) else value
        if isinstance(items, (tuple, list)):
            value = type(field)(chosen_tasks(path, items, field))
    if isinstance(field, float) and type(value) is int:
        value = float(value)
    with _unlocked(config):
        holder[last] = value


@contextlib.contextmanager
def _unlocked(config: Any) -> Iterator[None]:
    if not isinstance(config, config_dict.ConfigDict):
        yield
        return
    with config.ignore_type(), config.unlocked():
        yield


def field_of(config: Any, path: str) -> Any:
    """The value of a field; makes a field of a task.

    Raises:
        ConfigError: the config has no such field; the message offers others.
    """
    value: Any = config
    walked: list[str] = []
    for name in fields.names_of(path):
        parent = ".".join(["config", *walked])
        if not isinstance(value, _GROUPS):
            raise ConfigError(f"config.{path}: {parent} has no fields")
        if name and name not in value and ".".join(walked) in fields.BY_TASK:
            if "." in name and isinstance(value, config_dict.ConfigDict):
                raise ConfigError(
                    f"config.{path}: a task with a dot in its name can have "
                    f"no field in {parent}; name it without"
                )
            # config_flags changes only fields that exist.
            with _unlocked(config):
                value[name] = 1.0
        if name not in value:
            fields.check_renamed(path)
            others = fields.namesakes(path, config)
            raise ConfigError(_unknown_field(path, parent, name, value, others))
        value = value[name]
        walked.append(name)
    return value


def _unknown_field(
    path: str, parent: str, name: str, group: Any, elsewhere: Sequence[str]
) -> str:
    message = f"unknown config field {path!r}: {parent} has no {name!r}; "
    message += hint(name, group.keys(), elsewhere)
    if fields.is_open(parent.removeprefix("config.")) and "name" in group:
        message += (
            f" (options of another choice are given together: --{parent}="
            f"\"{{'name': ..., '{name}': ...}}\")"
        )
    return message


def literal(text: str) -> Any:
    """A value in Python's notation; other texts are themselves."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def chosen_tasks(path: str, items: Sequence, entries: Any) -> list:
    """Replaces names of a config's own entries by these entries.

    Args:
        path: the path of the overridden field.
        items: its new value.
        entries: its value in the config.

    Returns:
        The items, with the entries in place of their names.

    Raises:
        ConfigError: the config has its own entries, and an item is neither the
            name of one nor of a corpus.
    """
    own_entries = {}
    for entry in entries:
        entry = getattr(entry, "to_dict", lambda entry=entry: entry)()
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            own_entries[entry["name"]] = dict(entry)
    for item in items:
        is_name_of_own = (
            not own_entries or not isinstance(item, str) or item in own_entries
        )
        if not is_name_of_own and item not in entries:
            _check_corpus(path, item, own_entries)
    return [own_entries.get(i, i) if isinstance(i, str) else i for i in items]


def _check_corpus(path: str, item: str, own_entries: Mapping[str, Any]) -> None:
    if not choices.may_be_corpus(item):
        raise ConfigError(
            f"config.{path}: unknown task {item!r}; {hint(item, own_entries)}"
        )


def change_optimizer(config: Any, changes: Mapping[str, Any]) -> list[str]:
    """Drops the options of the config's optimizer if another is chosen.

    Args:
        config: the config to change. It gets the new optimizer's options that
            `changes` set, so that they can be changed.
        changes: the new values by field.

    Returns:
        Messages for the user, in sentences.
    """
    optimizer = _value(config, "training.optimizer")
    if not isinstance(optimizer, _GROUPS) or "name" not in optimizer:
        return []  # a user's plain dict, which validation will check
    former, dropped = optimizer["name"], dict(optimizer.get("options") or {})
    name = changes.get(_OPTIMIZER, former)
    if name == former:
        return []
    known = choices.optimizer_options(name)
    changed = [path.removeprefix(_OPTIONS) for path in changes]
    options = {option: known[option] for option in changed if option in known}
    with _unlocked(config):
        optimizer["options"] = type(optimizer)(options)
    message = f"{_OPTIMIZER}={name}"
    if dropped:
        dropped_options = ", ".join(
            f"{key}={value}" for key, value in dropped.items()
        )
        message += f" drops the options of {former} ({dropped_options})"
    rate = "training.optimizer.learning_rate"
    if rate not in changes:
        message += f"; {rate} stays {optimizer.get('learning_rate')}"
    return [message]
