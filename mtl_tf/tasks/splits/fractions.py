"""Trains a task on only a part of its training examples.

Dong et al. (2015, section 4.3) cut the data of two target languages to 15 % to
show what a low-resource pair gains from the others.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.core.random import generator
from mtl_tf.tasks.source import tell
from mtl_tf.tasks.splits.parts import PartsSource
from mtl_tf.tasks.task import Task

CUT = "drawn part of train"


def cut(
    tasks: Iterable[Task], fractions: Mapping[str, float] | None
) -> list[Task]:
    """The tasks with fewer training examples.

    Args:
        tasks: the tasks of a run.
        fractions: task name to the part of its training split that is used,
            above 0 and at most 1. Tasks not named keep all.

    Returns:
        The tasks, in their order. The drawn examples depend only on the task's
        name and number of examples. So they are the same for all seeds, and a
        smaller part is contained in a larger one.

    Raises:
        ConfigError: a name that is no task, or a wrong fraction.
    """
    tasks = list(tasks)
    fractions = dict(fractions or {})
    names = {task.name: task for task in tasks}
    for name, fraction in fractions.items():
        look_up(name, names, "task in pipeline.fractions")
        field = f"pipeline.fractions[{name!r}]"
        if checks.positive(field, fraction) > 1:
            raise ConfigError(f"{field} must be at most 1, got {fraction}")
    return [
        _cut(task, fractions[task.name]) if task.name in fractions else task
        for task in tasks
    ]


def _cut(task: Task, fraction: float) -> Task:
    source = FractionSource(task, fraction)
    splits = {**task.splits, "train": CUT}
    return dataclasses.replace(task, source=source, splits=splits)


class FractionSource(PartsSource):
    """The source of a task with a part of its training split, in order.

    Args:
        task: the task whose source is cut.
        fraction: the part that is used, above 0 and at most 1; at least one
            example.
    """

    def __init__(self, task: Task, fraction: float):
        super().__init__(task.source, (CUT,))
        self._task = task
        self._fraction = fraction

    def whole(self) -> tf.data.Dataset:
        """The training split."""
        return self._task.dataset("train")

    def mask(self, part: str) -> np.ndarray:
        """See `PartsSource.mask`."""
        return self._drawn

    def place_in_whole(self, number: int) -> str:
        """See `PartsSource.place_in_whole`."""
        return self._task.place("train", number)

    @functools.cached_property
    def _drawn(self) -> np.ndarray:
        size = self._task.size("train")
        number = max(1, round(size * self._fraction))
        order = generator(0, "fraction", self._task.name).permutation(size)
        mask = np.zeros(size, bool)
        mask[order[:number]] = True
        tell(
            f"task {self._task.name}: {number} of its {size} training examples "
            f"are used ({100 * self._fraction:g} %, drawn by the task's name, "
            "the same for every seed)",
            logging.INFO,
        )
        return mask
