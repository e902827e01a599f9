"""A part of a task's training examples: what if there were fewer of them?

Dong et al. (2015, section 4.3) cut the data of two targets to 15 % to show what
a poor pair gains from rich ones.
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
from mtl_tf.tasks.hold_out import select
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task import Task

CUT = "drawn part of train"


def cut(
    tasks: Iterable[Task], fractions: Mapping[str, float] | None
) -> list[Task]:
    """The tasks as they are with less to train on.

    Args:
        tasks: the tasks of a run.
        fractions: by the task's name, how much of its training split is
            used: above 0 and at most 1. All of it where there is no name.

    Returns:
        The tasks, in their order. Which examples are drawn is a function of
        the task's name and of how many it has: it is the same in runs of all
        seeds, and a smaller part is within a larger one.

    Raises:
        ConfigError: a name that is no task's, or a wrong fraction.
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


class FractionSource(Source):
    """The source of a task with a part of its training split, in order.

    Args:
        task: whose source it is.
        fraction: how much is used, above 0 and at most 1; at least one
            example is.
    """

    def __init__(self, task: Task, fraction: float):
        super().__init__()
        self._task = task
        self._fraction = fraction
        # One list: what the source finds later shows here, too.
        self.warnings = task.source.warnings

    @property
    def split_names(self) -> tuple[str, ...]:
        """The source's splits and the drawn part."""
        return (*self._task.source.split_names, CUT)

    def size(self, split: str) -> int:
        """Returns how many examples `split` has."""
        if split != CUT:
            return self._task.source.size(split)
        return int(np.sum(self._drawn))

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of `split`, in source order."""
        if split != CUT:
            return self._task.source.dataset(split)
        return select(self._task.dataset("train"), self._drawn)

    @functools.cached_property
    def _drawn(self) -> np.ndarray:
        size = self._task.size("train")
        number = max(1, round(size * self._fraction))
        order = generator(0, "fraction", self._task.name).permutation(size)
        mask = np.zeros(size, bool)
        mask[order[:number]] = True
        logging.info(
            "task %s: %d of its %d training examples are used (%g %%, drawn "
            "by the task's name, the same for every seed)",
            self._task.name,
            number,
            size,
            100 * self._fraction,
        )
        return mask
