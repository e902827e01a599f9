"""Rules of config fields: what a value has to be, in code and in words."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from mtl_tf.core import checks, special_ids
from mtl_tf.core.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Rule:
    """What the value of a field has to be.

    Attributes:
        words: the rule, such as "a positive integer".
        check: called with a field's name and value; raises `ConfigError`,
            which names the field, the rule and the value.
    """

    words: str
    check: Callable[[str, Any], Any]


def mapping(name: str, value: Any) -> None:
    """Raises `ConfigError` unless `value` is a dict."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} must be a dict, got {value!r}")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a string, got {value!r}")


def _name(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{name} must be a name, got {value!r}")


def _integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name} must be an integer, got {value!r}")


def _names(name: str, value: Any) -> None:
    if not isinstance(value, (tuple, list)):
        raise ConfigError(f"{name} must be a tuple of names, got {value!r}")
    for item in value:
        _name(f"every item of {name}", item)


def _vocabulary_size(name: str, value: Any) -> None:
    """The least that holds; pairs and texts that are written need more."""
    checks.not_negative_integer(name, value)
    if value in (special_ids.PAD + 1, special_ids.OOV + 1):
        raise ConfigError(
            f"{name} must be 0 or above {special_ids.OOV + 1}, since padding "
            f"and the unknown word are among the entries, got {value}"
        )


def _share(name: str, value: Any) -> None:
    checks.not_negative(name, value)
    if value > 1:
        raise ConfigError(f"{name} must be from 0 to 1, got {value!r}")


def _some_names(name: str, value: Any) -> None:
    _names(name, value)
    if not value:
        raise ConfigError(f"{name} must name at least one, got {value!r}")


def _tasks(name: str, value: Any) -> None:
    """Names, and dicts that describe tasks on the user's own files."""
    if not isinstance(value, (tuple, list)) or not value:
        raise ConfigError(
            f"{name} must be a tuple of at least one task, got {value!r}"
        )
    for index, entry in enumerate(value):
        item = f"{name}[{index}]"
        if isinstance(entry, Mapping):
            _task(item, entry)
        elif not isinstance(entry, str) or not entry:
            raise ConfigError(
                f"{item} must be a task's name or a dict that describes a "
                f"task, got {entry!r}"
            )


def _task(field: str, entry: Mapping) -> None:
    _name(f"{field}['name']", entry.get("name"))
    if "files" not in entry and "dataset" not in entry:
        raise ConfigError(
            f"{field} ({entry['name']}) needs 'files' or 'dataset' "
            "(in Python also 'data')"
        )
    if "loss_weight" in entry:
        checks.positive(f"{field}['loss_weight']", entry["loss_weight"])


def _any_tasks(name: str, value: Any) -> None:
    if value:
        _tasks(name, value)


def _service(name: str, value: Any) -> None:
    """An address that `distribute` of tf.data takes, or nothing."""
    _text(name, value)
    host, _, port = value.removeprefix("grpc://").rpartition(":")
    inside = host and port.isdigit() and 0 < int(port) < 2**16
    if value and not (value.startswith("grpc://") and inside):
        raise ConfigError(
            f"{name} must be '' or an address as grpc://HOST:PORT, got "
            f"{value!r}"
        )


def one_of(*options: str) -> Rule:
    """The rule that a value is one of `options`."""
    return Rule(
        f"one of {', '.join(options)}",
        lambda name, value: checks.one_of(name, value, options),
    )


BOOLEAN = Rule("True or False", checks.boolean)
TEXT = Rule("a string", _text)
SERVICE = Rule("'' or grpc://HOST:PORT", _service)
NAME = Rule("a name", _name)
NAMES = Rule("names", _names)
SOME_NAMES = Rule("at least one name", _some_names)
TASKS = Rule("at least one task", _tasks)
ANY_TASKS = Rule("tasks", _any_tasks)
INTEGER = Rule("an integer", _integer)
POSITIVE_INTEGER = Rule("a positive integer", checks.positive_integer)
NOT_NEGATIVE_INTEGER = Rule(
    "zero or a positive integer", checks.not_negative_integer
)
VOCABULARY_SIZE = Rule("zero or an integer above 2", _vocabulary_size)
POSITIVE = Rule("a positive number", checks.positive)
NOT_NEGATIVE = Rule("zero or a positive number", checks.not_negative)
SHARE = Rule("from 0 to 1", _share)
FRACTION = Rule("at least 0 and below 1", checks.fraction)
