"""Which fields of a config nothing reads, because of what other fields are."""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Field, Group
from mtl_tf.core import files, task_types


def reason(
    config: Mapping[str, Any], path: str, types: Collection[str] = ()
) -> str:
    """Why the value of a field does nothing.

    Args:
        config: what `validate` returned.
        path: the dotted path of a field, of a group or of an option.
        types: the types of the config's tasks; () if they are not known.

    Returns:
        A sentence, or "" if something may read it.
    """
    every = fields.every()
    field, group = every.get(path), every.get(_parent(path))
    value = value_of(config, path)
    if isinstance(field, Field) and value:
        for other in field.unless:
            if in_place := value_of(config, other):
                return (
                    f"{path} does nothing where {other} is {in_place!r}, which "
                    f"counts in its place, got {value!r}: change {other}, or "
                    "set it to 0"
                )
    if not _is_changed(path, value):
        return ""
    for needed in (getattr(group, "needs", ()), getattr(field, "needs", ())):
        if not needed or path in needed:
            continue
        if not any(_holds(config, need) for need in needed):
            others = " or ".join(needed)
            return f"{path} does nothing without {others}, got {value!r}"
    return _of_other_types(config, path, types)


def not_as_begun(
    config: Mapping[str, Any], paths: Iterable[str], file: str, *within: str
) -> list[str]:
    """The fields that a begun run does not have already.

    A run that was begun goes on with what it has.

    Args:
        config: what `validate` returned.
        paths: dotted paths of fields.
        file: that of the config in the run directory, if the run is begun.
        *within: where in the file the config is.

    Raises:
        RunError: the file is damaged.
    """
    if not os.path.exists(file):
        return list(paths)
    begun = files.read_json(file)
    for name in within:
        begun = value_of(begun, name) or {}
    return [
        path
        for path in paths
        if _plain(value_of(begun, path)) != _plain(value_of(config, path))
    ]


def value_of(config: Mapping[str, Any], path: str) -> Any:
    """The value of a field, None if there is no such field."""
    value: Any = config
    for name in fields.names_of(path):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _plain(value: Any) -> Any:
    # Of names, a config has a tuple, and what was read of JSON a list.
    return json.loads(json.dumps(value))


def _is_changed(path: str, value: Any) -> bool:
    """Whether a value is another than the field's default."""
    field = fields.every().get(path)
    if field is None:
        return True
    is_group = isinstance(field, Group)
    default = fields.defaults(path) if is_group else field.default
    return _plain(value) != _plain(default)


def _holds(config: Mapping[str, Any], needed: str) -> bool:
    path, _, required = needed.partition("=")
    value = value_of(config, path)
    return value == required if required else bool(value)


def _of_other_types(
    config: Mapping[str, Any], path: str, types: Collection[str]
) -> str:
    """Why tasks of these types do not read a field, or ""."""
    if not types or not set(types) <= set(task_types.NAMES):
        return ""  # A type of the user's own may read any field.
    if any(_reads(name, path) for name in types):
        return ""
    owners = _owners(path)
    missing = (
        f"without {' or '.join(owners)} tasks"
        if owners
        else f"for {' and '.join(sorted(types))} tasks"
    )
    others = [
        name
        for name in fields.namesakes(path)
        if not owners and any(name in _declared(owner) for owner in types)
    ]
    theirs = f": their field is {others[0]}" if others else ""
    value = value_of(config, path)
    return f"{path} does nothing {missing}, got {value!r}{theirs}"


def _reads(task_type: str, path: str) -> bool:
    """Whether something may read a field for the tasks of a type."""
    if owners := _owners(path):
        return task_type in owners
    for name, group in _declared(task_type).items():
        only = getattr(group, "only_with", None)
        if only is not None and path.startswith(f"{_parent(name)}."):
            return path in only
    return True


def _owners(path: str) -> list[str]:
    """The task types that alone have a field, or the group that it is in."""
    return [
        name
        for name in filter(None, fields.by_task_type())
        if any(f"{path}.".startswith(f"{p}.") for p in _declared(name))
    ]


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _declared(task_type: str) -> Mapping[str, Field | Group]:
    return fields.by_task_type().get(task_type, {})
