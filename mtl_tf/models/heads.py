"""The heads of a multi-task model, one per task type."""

from collections.abc import Mapping, Sequence

import keras

from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.models import task_types as types_of_models
from mtl_tf.models.head_type import HeadType


def head_types_of(tasks: Sequence[Mapping]) -> dict[str, HeadType]:
    """What the heads of the tasks read, by task type."""
    names = sorted({task["type"] for task in tasks})
    return {
        name: types_of_models.of(name).of_tasks(
            [task for task in tasks if task["type"] == name]
        )
        for name in names
    }


def make_heads(
    tasks: Sequence[Mapping], config: Mapping, options: Mapping | None = None
) -> dict[str, keras.layers.Layer]:
    """Makes the head of each task type, by type.

    Args:
        tasks: for each task "type", "labels" and the fields of its type.
        config: the model's config, with a complete "head".
        options: "init", see `layers.base.check_init`, and "dtype".

    Raises:
        ConfigError: a type is unknown, or a field or a value is wrong.
    """
    heads = {}
    for name, head_type in head_types_of(tasks).items():
        tasks_of_type = [
            task if task["type"] == name else None for task in tasks
        ]
        title = task_types.title(name)
        if title in [head.name for head in heads.values()]:
            raise ConfigError(
                f"two task types of one model are called {title!r}: rename "
                f"the class of {name}"
            )
        head = head_type.make(
            tasks_of_type, config, name=title, **(options or {})
        )
        if getattr(head, "reads", None) not in ("summary", "sequence"):
            raise ConfigError(
                f"the head {type(head).__name__} of the task type {title!r} "
                "must have an attribute reads, 'summary' or 'sequence'"
            )
        heads[name] = head
    return heads
