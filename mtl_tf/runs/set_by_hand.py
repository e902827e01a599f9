"""Refuses options that a user sets and a run does not read."""

from collections.abc import Iterable, Mapping
from typing import Any

from mtl_tf.config_fields import idle_fields, validation
from mtl_tf.tasks import registry


def check_used(
    config: Mapping[str, Any],
    by_hand: Iterable[str],
    begun: str,
    *within: str,
    trains_alone: bool = False,
) -> None:
    """Refuses fields that were set by hand and do nothing.

    A run that was begun goes on with what it has.

    Args:
        config: what `validate` returned.
        by_hand: dotted paths of the fields that were set by hand.
        begun: the file of the config in the run directory, if it is begun.
        *within: where in that file the config is.
        trains_alone: whether models of single tasks, which read other fields,
            are trained besides.

    Raises:
        ConfigError: one of them does nothing; the message says what it needs.
        RunError: the file is damaged.
    """
    paths = idle_fields.not_as_begun(config, by_hand, begun, *within)
    types = registry.types_of(config["tasks"])
    alone = {"train_separately": True} if trains_alone else {}
    validation.check_used({**config, **alone}, paths, types)
