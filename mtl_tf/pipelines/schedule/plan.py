"""The plan of a training run: the examples of each step.

It is a pure function of the step number; `batches` follows it.
"""

import types
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.mixing import make_mixing
from mtl_tf.pipelines.schedule.buckets import (
    TaskBoundaries,
    check_boundaries,
    of_task,
)
from mtl_tf.pipelines.schedule.epoch_order import (
    JointOrder,
    TaskOrder,
    axis_weights,
    batch_sizes,
)


class Steps(NamedTuple):
    """The plan of n steps.

    Attributes:
        tasks: int32 [n, G].
        lengths: int32 [n]: T, the padded length of the bucket, which may be the
            task's own; with several time axes [n, axes].
        rows: int32 [n, G, B]: examples of the task's split; -1 is padding.
        sizes: int32 [n]: B of each step; `rows` is as wide as the largest.
    """

    tasks: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray


class BatchPlan:
    """The examples and tasks of every step of a training run.

    Batch n of a task is batch n % count of its epoch n // count, with `count`
    from `batches_per_task`. Each example comes once an epoch, unless its task
    is `balanced`.

    Args:
        splits: the encoded training splits, one for each task.
        batch_size: B, the examples of one task in a step.
        boundaries: padded lengths; no text is longer than the last. By task
            name if each task has its own buckets (not in joint steps).
        mixing_config: see `make_mixing`.
        seed: the run's seed.
        static_shapes: True, for XLA: every batch has B rows and its bucket's
            length. False, to save padding: a batch is as long as its longest
            text, and the last batch of a task's epoch has only the remaining
            rows (not in joint steps).
        tokens_per_batch: if above 0, replaces `batch_size`: the most cells of a
            batch, with padding, over all time axes. The longer the texts, the
            smaller B.
        token_weights: by time axis, the weight of its cells in
            `tokens_per_batch`, if not 1.
        balanced: by task name, the dense column of classes to draw equally
            often; see `TaskOrder`.
        parts: the number of parts in which a batch is computed. B is that many
            times the value from `batch_size` or `tokens_per_batch`.
        replicas: the number of replicas that share a batch. With
            `tokens_per_batch`, B is rounded down to a multiple of it.

    Examples that do not fill a batch join the next larger bucket, so at most
    one batch per task and epoch is not full.

    Attributes:
        batch_sizes: int32 [buckets], B of each bucket; task by task if tasks
            have their own buckets.
        batch_size: the largest B, the width of rows.
        sides: () for one time axis, else (axes,).
        parts: see Args.
        is_rounded: whether batches are smaller because of `replicas`.

    Raises:
        ConfigError: a wrong argument, or a split without examples.
    """

    def __init__(
        self,
        splits: Sequence[EncodedSplit],
        batch_size: int,
        boundaries: TaskBoundaries,
        mixing_config: Mapping[str, Any] | str,
        seed: int,
        static_shapes: bool = True,
        tokens_per_batch: int = 0,
        token_weights: Mapping[str, int] = types.MappingProxyType({}),
        balanced: Mapping[str, str] = types.MappingProxyType({}),
        parts: int = 1,
        replicas: int = 1,
    ):
        self.splits = list(splits)
        if not self.splits:
            raise ConfigError("there are no tasks to train")
        self.static_shapes, self.parts = static_shapes, parts
        self.is_rounded = False
        axes = self.splits[0].axes
        budget = (tokens_per_batch, axis_weights(token_weights, axes))
        names = [s.name or str(n) for n, s in enumerate(self.splits)]
        per_task = isinstance(boundaries, Mapping)
        if not per_task:
            boundaries = check_boundaries(boundaries)
        self._orders = []
        for name, split in zip(names, self.splits):
            lengths = of_task(boundaries, name)
            task = name if per_task else ""
            sizes = parts * batch_sizes(lengths, batch_size, *budget, task)
            shared = _shared_out(sizes, replicas, tokens_per_batch)
            self.is_rounded |= not np.array_equal(sizes, shared)
            _check_split(name, split, lengths)
            column = split.columns.get(balanced.get(name, ""))
            classes = None if column is None else np.asarray(column.values)
            self._orders.append(
                TaskOrder(name, split, lengths, shared, seed, classes)
            )
        sizes = [order.sizes for order in self._orders]
        self.batch_sizes = np.concatenate(sizes if per_task else sizes[:1])
        self.batch_size = int(self.batch_sizes.max())
        self.boundaries = boundaries
        self.sides = self._orders[0].boundaries.shape[1:]
        self.mixing = make_mixing(
            mixing_config,
            self.batches_per_task,
            seed,
            [order.name for order in self._orders],
        )
        self._joint = None
        if self.mixing.is_joint:
            _check_joint(tokens_per_batch, per_task)
            self._joint = JointOrder(self._orders, seed)

    @property
    def batches_per_task(self) -> np.ndarray:
        """The number of batches in one epoch of each task, int64 [tasks]."""
        return np.array([len(order) for order in self._orders], np.int64)

    @property
    def groups(self) -> int:
        """G, the number of tasks per step."""
        return self.mixing.groups

    @property
    def steps_per_epoch(self) -> int:
        """The batches of all tasks together; for joint steps `JointOrder`."""
        return len(self._joint or []) or self.mixing.steps_per_epoch

    def steps(self, start: int, stop: int) -> Steps:
        """The steps from `start` to before `stop`, the same at every call."""
        count = stop - start
        plan = Steps(
            np.asarray(self.mixing.tasks(start, stop), np.int32),
            np.zeros([count, *self.sides], np.int32),
            np.full([count, self.groups, self.batch_size], -1, np.int32),
            np.zeros([count], np.int32),
        )
        if self._joint:
            self._fill(plan, np.arange(stop - start), start, self._joint)
            return plan
        last = len(self._orders) - 1
        wrong = plan.tasks[(plan.tasks < 0) | (plan.tasks > last)]
        if wrong.size:
            raise ConfigError(
                f"pipeline.mixing: in steps {start} to {stop - 1}, tasks must "
                f"be numbers from 0 to {last}, got {wrong[0]}"
            )
        before = self.mixing.counts(start)
        for task in np.unique(plan.tasks):
            steps = np.flatnonzero(plan.tasks[:, 0] == task)
            self._fill(plan, steps, before[task], self._orders[task])
        return plan

    def _fill(
        self,
        plan: Steps,
        steps: np.ndarray,
        first: int,
        order: TaskOrder | JointOrder,
    ) -> None:
        """Writes the batches first, first + 1, ... of `order` into `steps`."""
        epochs, places = np.divmod(first + np.arange(len(steps)), len(order))
        for epoch in np.unique(epochs):
            in_epoch = epochs == epoch
            batches = order.epoch(int(epoch))
            rows = batches.rows[places[in_epoch]]
            rows = rows.reshape(len(rows), self.groups, -1)
            # A task with its own buckets may have a smaller largest B.
            plan.rows[steps[in_epoch], :, : rows.shape[2]] = rows
            buckets = batches.buckets[places[in_epoch]]
            plan.lengths[steps[in_epoch]] = order.boundaries[buckets]
            plan.sizes[steps[in_epoch]] = order.sizes[buckets]

    @property
    def varies(self) -> bool:
        """Whether B differs between steps."""
        return len(set(self.batch_sizes.tolist())) > 1

    def cells(self, steps: int) -> tuple[int, int]:
        """The numbers of tokens and of cells in the first steps.

        The cells are those of [G, B, T], and of [G, B, U] if there are targets.
        `pipeline.token_weights` do not count.
        """
        plan = self.steps(0, steps)
        # One text or two: [n, G, B, 1] or [n, G, B, 2].
        sides = self.sides or (1,)
        tokens = np.zeros([*plan.rows.shape, *sides], np.int64)
        for task, split in enumerate(self.splits):
            is_task = (plan.tasks == task)[..., None] & (plan.rows >= 0)
            lengths = split.lengths[plan.rows[is_task]]
            tokens[is_task] = lengths.reshape(-1, *sides)
        lengths = plan.lengths.reshape(-1, *sides).astype(np.int64)
        rows = plan.sizes
        if not self.static_shapes:
            lengths = np.maximum(tokens.max(axis=(1, 2)), 1)
            rows = np.sum(np.any(plan.rows >= 0, axis=1), axis=1)
        cells = lengths.sum(axis=1) * rows * self.groups
        return int(tokens.sum()), int(cells.sum())


def _shared_out(sizes: np.ndarray, replicas: int, budget: int) -> np.ndarray:
    """The largest multiples of `replicas` up to the sizes of batches.

    Without a budget they are the user's own size, which is not changed.
    """
    if not budget:
        return sizes
    if sizes.min() < replicas:
        raise ConfigError(
            f"pipeline.tokens_per_batch must give each of the {replicas} "
            f"replicas a row, but a batch of the longest texts has "
            f"{sizes.min()} within {budget} tokens: make it larger, or shorten "
            "texts (text.max_length)"
        )
    return sizes // replicas * replicas


def _check_joint(tokens_per_batch: int, per_task: bool) -> None:
    """Refuses options that joint steps cannot have."""
    if tokens_per_batch:
        raise ConfigError(
            "joint steps have pipeline.batch_size examples of each task: set "
            "pipeline.tokens_per_batch to 0"
        )
    if per_task:
        raise ConfigError(
            "joint steps have batches of all tasks in one bucket: set "
            "pipeline.buckets_per_task to False"
        )


def _check_split(name: str, split: EncodedSplit, boundaries: list) -> None:
    """Refuses an empty split, or one with texts longer than all buckets."""
    if not len(split):
        raise ConfigError(f"task {name!r} has no training examples")
    longest = split.lengths.max(axis=0).tolist()
    if np.any(np.greater(longest, boundaries[-1])):
        raise ConfigError(
            f"task {name!r} has a text of {longest} tokens, but the last "
            f"bucket ends at {boundaries[-1]}: add a longer bucket or set "
            "text.max_length"
        )
