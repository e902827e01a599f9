"""The heads of a multi-task model, one a task type."""

from collections.abc import Mapping, Sequence

import keras

from mtl_tf.models import task_types
from mtl_tf.models.head_type import HeadType


def head_types_of(tasks: Sequence[Mapping]) -> dict[str, HeadType]:
    """What the heads of tasks read, by task type."""
    names = sorted({task["type"] for task in tasks})
    return {
        name: task_types.of(name).of_tasks(
            [task for task in tasks if task["type"] == name]
        )
        for name in names
    }


def make_heads(
    tasks: Sequence[Mapping], config: Mapping, options: Mapping | None = None
) -> dict[str, keras.layers.Layer]:
    """Makes the head of each task type, by type.

    Args:
        tasks: "type", "labels" and what their types know of each.
        config: the model's, with a complete "head".
        options: "init", see `layers.base.check_init`, and "dtype".

    Raises:
        ConfigError: an unknown type, or a field or a value is wrong.
    """
    heads = {}
    for name, head_type in head_types_of(tasks).items():
        tasks_of_type = [
            task if task["type"] == name else None for task in tasks
        ]
        heads[name] = head_type.make(
            tasks_of_type, config, name=name, **(options or {})
        )
    return heads
