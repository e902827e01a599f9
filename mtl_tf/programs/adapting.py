"""Effects of overrides beyond a field and its value.

Tasks of a config are chosen by name. Another optimizer drops the options of the
former one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ml_collections import config_dict

from mtl_tf.configs import choices
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint

OPTIMIZER = "training.optimizer.name"
_OPTIONS = "training.optimizer.options."


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


def change_optimizer(
    config: config_dict.ConfigDict, overrides: Mapping[str, Any]
) -> list[str]:
    """Drops the options of the config's optimizer if another is chosen.

    Args:
        config: the config to change. It gets the new optimizer's options that
            `overrides` set, so that they can be overridden.
        overrides: the overrides of the command line, by field.

    Returns:
        Messages for the user, in sentences.
    """
    try:
        optimizer = config.training.optimizer
        former, options = optimizer.name, optimizer.options
    except AttributeError:
        return []  # a user's plain dict, which validation will check
    name = overrides.get(OPTIMIZER, former)
    if name == former:
        return []
    dropped = dict(options)
    known = choices.optimizer_options(name)
    overridden = [path.removeprefix(_OPTIONS) for path in overrides]
    optimizer.options = config_dict.ConfigDict(
        {option: known[option] for option in overridden if option in known}
    )
    message = f"training.optimizer.name={name}"
    if dropped:
        dropped_options = ", ".join(
            f"{key}={value}" for key, value in dropped.items()
        )
        message += f" drops the options of {former} ({dropped_options})"
    rate = f"{_OPTIONS.removesuffix('options.')}learning_rate"
    if rate not in overrides:
        message += f"; {rate} stays {optimizer.learning_rate}"
    return [message]
