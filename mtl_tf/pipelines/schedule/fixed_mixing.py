"""The base class of task mixings, and the mixings without randomness."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError


class TaskMixing:
    """The tasks of each training step.

    Args:
        batches_per_task: batches of one epoch of each task, all >= 1.
        seed: the seed of random mixings.
        task_names: the tasks' names, for mixings whose options name tasks.

    Attributes:
        is_joint: whether each step has a batch of every task, in their order.
        in_phases: whether it has phases of some of the tasks.
        names_tasks: whether its options name tasks, so that a run on one task
            has no use for it.

    Raises:
        ConfigError: no tasks, a task without batches, or a wrong option.
    """

    is_joint = False
    in_phases = False
    names_tasks = False

    def __init__(
        self,
        batches_per_task: Sequence[int],
        seed: int,
        task_names: Sequence[str] = (),
    ):
        self.batches_per_task = np.asarray(batches_per_task, np.int64)
        self.seed = seed
        self.task_names = tuple(task_names)
        if not self.batches_per_task.size or self.batches_per_task.min() < 1:
            raise ConfigError(
                "a mixing needs tasks with at least one batch each, got "
                f"{self.batches_per_task.tolist()}"
            )

    @property
    def groups(self) -> int:
        """G, the number of tasks per step."""
        return 1

    @property
    def steps_per_epoch(self) -> int:
        """The number of steps with as many batches as all tasks together."""
        return int(self.batches_per_task.sum())

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """The tasks of the steps from `start` to before `stop`.

        Returns:
            int32 [stop - start, G].
        """
        raise NotImplementedError

    def counts(self, step: int) -> np.ndarray:
        """The number of batches of each task before `step`, int64 [tasks].

        This one counts the steps; subclasses compute it faster.
        """
        return self._tally(self.tasks(0, step).ravel())

    def _tally(self, tasks: np.ndarray) -> np.ndarray:
        number = len(self.batches_per_task)
        # Of no steps, an own mixing may return an empty array of floats.
        tasks = tasks.astype(np.int64)
        return np.bincount(tasks, minlength=number).astype(np.int64)


class RoundRobin(TaskMixing):
    """One batch of each task in turn: 0, 1, ..., 0, 1, ..."""

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """See `TaskMixing.tasks`."""
        steps = np.arange(start, stop)[:, None]
        return (steps % len(self.batches_per_task)).astype(np.int32)

    def counts(self, step: int) -> np.ndarray:
        """See `TaskMixing.counts`."""
        number = len(self.batches_per_task)
        return (step - np.arange(number) + number - 1) // number


class Blocks(TaskMixing):
    """`block` batches of one task, then of the next (Dong et al. 2015).

    Args:
        block: batches in a row; 1000 by default, as in the paper.
    """

    def __init__(self, *args: Any, block: int = 1000, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.block = checks.positive_integer("mixing.block", block)

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """See `TaskMixing.tasks`."""
        blocks = np.arange(start, stop)[:, None] // self.block
        return (blocks % len(self.batches_per_task)).astype(np.int32)

    def counts(self, step: int) -> np.ndarray:
        """See `TaskMixing.counts`."""
        number = len(self.batches_per_task)
        cycles, rest = divmod(step, number * self.block)
        begun = np.clip(rest - np.arange(number) * self.block, 0, self.block)
        return cycles * self.block + begun


class Joint(TaskMixing):
    """All tasks in every step, one group each (Liu et al. 2016, eq. 21).

    The length of an epoch depends on the length buckets of the tasks;
    `BatchPlan` knows it. `steps_per_epoch` here ignores the buckets.
    """

    is_joint = True

    @property
    def groups(self) -> int:
        """G = the number of tasks."""
        return len(self.batches_per_task)

    @property
    def steps_per_epoch(self) -> int:
        """Steps until the largest task has been seen whole."""
        return int(self.batches_per_task.max())

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """See `TaskMixing.tasks`."""
        return np.tile(
            np.arange(self.groups, dtype=np.int32), (stop - start, 1)
        )

    def counts(self, step: int) -> np.ndarray:
        """See `TaskMixing.counts`."""
        return np.full(self.groups, step, np.int64)
