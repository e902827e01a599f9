"""The padded lengths of a trained run's tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.pipelines.schedule.buckets import of_task


def boundaries_of(
    path: str, data: Mapping[str, Any], tasks: Sequence[Mapping]
) -> list[list]:
    """The padded lengths of each task, from data.json.

    Args:
        path: the path of data.json.
        data: its contents.
        tasks: the run's tasks.

    Raises:
        RunError: they do not fit the tasks or their axes.
    """
    axes = data["axes"]
    try:
        boundaries = [
            of_task(data["boundaries"], task["name"]) for task in tasks
        ]
    except ConfigError as error:
        raise RunError(f"{path} is damaged: {error}")
    for task, lengths in zip(tasks, boundaries):
        if np.size(lengths[0]) != len(axes):
            raise RunError(
                f"{path} is damaged: the boundaries of {task['name']} have "
                f"{np.size(lengths[0])} lengths, and there are {len(axes)} "
                f"axes: {', '.join(map(str, axes))}"
            )
    return boundaries
