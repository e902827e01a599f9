"""Batches: the plan of all steps, and the tf.data that carries it out.

The plan is a pure function of the step number: which tasks, which rows, which
padded length. The data set is a map over step numbers that asks the plan for a
few hundred steps at once and gathers their rows from memory. So it starts at
any step at once, a resumed run sees what an uninterrupted one saw, and there
is no stream per task to skip forward (the form `choose_from_datasets` takes).

A batch is a dict of tensors (a run of both kinds of tasks has label and tags in
all of them, 0 where they do not apply):

    task        int32   [G]        the task of each group
    tokens      int32   [G, B, T]  0 is padding
    label       int32   [G, B]     of classification tasks
    tags        int32   [G, B, T]  of tagging tasks; 0 where tokens are padding
    characters  int32   [G, B, T, W]  if models read them; 0 is padding
    casing      int32   [G, B, T]  the same
    weight      float32 [G, B]     0 on filler rows, else 1
    normalizer  float32 [G]        real examples of the group in the global
                                   batch; 1 where there are none, so that it
                                   always divides
    step        int64   scalar
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.buckets import (
    bucket_of,
    check_boundaries,
    extend_boundaries,
)
from mtl_tf.pipelines.columns import EncodedSplit
from mtl_tf.pipelines.orders import JointOrder, TaskOrder, cut_into_batches
from mtl_tf.pipelines.schedules import Joint, make_schedule
from mtl_tf.pipelines.store import ExampleStore
from mtl_tf.pipelines.tuning import fixed

_STEPS_AT_ONCE = 256
_PREFETCHED = 32

Batch = dict[str, tf.Tensor]


class Steps(NamedTuple):
    """The plan of n steps.

    Attributes:
        tasks: int32 [n, G].
        lengths: int32 [n]: T, the padded length.
        rows: int32 [n, G, B]: examples of the task's split; -1 is filler.
    """

    tasks: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray


class BatchPlan:
    """Which examples of which tasks make up every step of a training run.

    Batch n of a task is batch n % count of its epoch n // count, with `count`
    from `batches_per_task`. Each example comes once an epoch.

    Args:
        splits: the encoded training splits, one a task.
        batch_size: B, examples of one task in a step.
        boundaries: padded lengths; none of the texts is longer than the last.
        schedule_config: see `make_schedule`.
        seed: the run's seed.
        static_shapes: True, for XLA: every batch has B rows and the length of
            its bucket; what does not fill a batch joins the next larger
            bucket, so that at most one batch a task and epoch has filler.
            False: every bucket ends with a smaller batch (not in joint
            steps), and batches are as long as their longest text, which saves
            padding.

    Raises:
        ConfigError: a wrong argument, or a split without examples.
    """

    def __init__(
        self,
        splits: Sequence[EncodedSplit],
        batch_size: int,
        boundaries: Sequence[int],
        schedule_config: Mapping[str, Any] | str,
        seed: int,
        static_shapes: bool = True,
    ):
        self.splits = list(splits)
        self.batch_size = checks.positive_integer(
            "pipeline.batch_size", batch_size
        )
        self.boundaries = check_boundaries(boundaries)
        self.static_shapes = static_shapes
        self._check_splits()
        self._seed = seed
        self._orders = self._make_orders(carry=static_shapes)
        self.schedule = make_schedule(
            schedule_config,
            self.batches_per_task,
            seed,
            [order.name for order in self._orders],
        )
        self._joint = None
        if isinstance(self.schedule, Joint):
            # A step is as wide as its widest group: a smaller last batch of
            # one task would be padded again to the others' rows.
            self._orders = self._make_orders(carry=True)
            self._joint = JointOrder(self._orders, seed)

    def _make_orders(self, carry: bool) -> list[TaskOrder]:
        settings = (self.boundaries, self.batch_size, self._seed, carry)
        return [
            TaskOrder(split.name or str(index), split, *settings)
            for index, split in enumerate(self.splits)
        ]

    @property
    def batches_per_task(self) -> np.ndarray:
        """Batches in one epoch of each task, int64 [tasks]."""
        return np.array([len(order) for order in self._orders], np.int64)

    def _check_splits(self) -> None:
        if not self.splits:
            raise ConfigError("there are no tasks to train")
        for index, split in enumerate(self.splits):
            name = split.name or index
            if not len(split):
                raise ConfigError(f"task {name!r} has no training examples")
            longest = int(split.lengths.max())
            if longest > self.boundaries[-1]:
                raise ConfigError(
                    f"task {name!r} has a text of {longest} tokens, but the "
                    f"last bucket ends at {self.boundaries[-1]}: add a longer "
                    "bucket or set text.max_length"
                )

    @property
    def groups(self) -> int:
        """G, how many tasks a step has."""
        return self.schedule.groups

    @property
    def steps_per_epoch(self) -> int:
        """As many steps as all tasks have batches; see `JointOrder` else."""
        return len(self._joint or []) or self.schedule.steps_per_epoch

    def steps(self, start: int, stop: int) -> Steps:
        """The steps from `start` to before `stop`, the same at every call."""
        plan = Steps(
            self.schedule.tasks(start, stop),
            np.zeros([stop - start], np.int32),
            np.zeros([stop - start, self.groups, self.batch_size], np.int32),
        )
        if self._joint:
            self._fill(plan, np.arange(stop - start), start, self._joint)
            return plan
        before = self.schedule.counts(start)
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
            here = epochs == epoch
            batches = order.epoch(int(epoch))
            rows = batches.rows[places[here]]
            plan.rows[steps[here]] = rows.reshape(len(rows), self.groups, -1)
            buckets = batches.buckets[places[here]]
            plan.lengths[steps[here]] = np.asarray(self.boundaries)[buckets]

    def padding_share(self) -> float:
        """The share of cells [G, B, T] of one epoch that hold no token."""
        plan = self.steps(0, self.steps_per_epoch)
        sizes = np.zeros(plan.rows.shape, np.int64)
        for task, split in enumerate(self.splits):
            here = (plan.tasks == task)[..., None] & (plan.rows >= 0)
            sizes[here] = split.lengths[plan.rows[here]]
        lengths, rows = plan.lengths.astype(np.int64), self.batch_size
        if not self.static_shapes:
            lengths = np.maximum(sizes.max(axis=(1, 2)), 1)
            rows = np.sum(np.any(plan.rows >= 0, axis=1), axis=1)
        return 1.0 - sizes.sum() / np.sum(lengths * rows * self.groups)


def training_dataset(
    plan: BatchPlan,
    start_step: int = 0,
    replicas: int = 1,
    stop_step: int | None = None,
) -> tf.data.Dataset:
    """The batches of a run from a step on.

    Args:
        plan: the plan of the run.
        start_step: the step of the first batch; any step costs the same.
        replicas: R: every step comes as R batches one after another, with the
            rows 0 to B/R - 1, then B/R to 2 B/R - 1, ... Their `normalizer`
            counts the rows of all R.
        stop_step: the step after the last one; None: without end.

    Returns:
        A data set of batches as described at the top of this file, shapes
        [G, B / R] and [G, B / R, None]; without `plan.static_shapes`,
        [G, None] and [G, None, None].

    Raises:
        ConfigError: B is not a multiple of `replicas`, or `replicas` > 1
            without static shapes.
    """
    _check_replicas(plan, replicas)
    stop = np.iinfo(np.int64).max if stop_step is None else stop_step
    store = ExampleStore(plan.splits)
    batch = functools.partial(_make_batch, store, plan.static_shapes)
    chunks = tf.data.Dataset.range(start_step, stop, _STEPS_AT_ONCE).map(
        functools.partial(_plan_chunk, plan, replicas, stop)
    )
    # Two calls keep ahead of training without taking its cores.
    return fixed(
        chunks.prefetch(1)
        .unbatch()
        .map(batch, num_parallel_calls=2)
        .prefetch(_PREFETCHED * replicas)
    )


def _check_replicas(plan: BatchPlan, replicas: int) -> None:
    checks.positive_integer("replicas", replicas)
    if plan.batch_size % replicas:
        raise ConfigError(
            f"pipeline.batch_size must be a multiple of the {replicas} "
            f"replicas, got {plan.batch_size}"
        )
    if replicas > 1 and not plan.static_shapes:
        raise ConfigError(
            f"{replicas} replicas need static shapes: a smaller last batch "
            "cannot be split evenly"
        )


def _plan_chunk(
    plan: BatchPlan, replicas: int, stop: int, start: tf.Tensor
) -> dict[str, tf.Tensor]:
    """The plan of the steps from `start` on, one row a replica and step."""

    def compute(first: np.int64) -> list[np.ndarray]:
        last = int(min(first + _STEPS_AT_ONCE, stop))
        return _pieces(plan, int(first), last, replicas)

    shapes = {
        "task": (tf.int32, [None, plan.groups]),
        "length": (tf.int32, [None]),
        "rows": (tf.int32, [None, plan.groups, plan.batch_size // replicas]),
        "normalizer": (tf.float32, [None, plan.groups]),
        "step": (tf.int64, [None]),
    }
    types = [dtype for dtype, _ in shapes.values()]
    values = tf.numpy_function(compute, [start], types)
    return {
        key: tf.ensure_shape(value, shape)
        for value, (key, (_, shape)) in zip(values, shapes.items())
    }


def _pieces(
    plan: BatchPlan, start: int, stop: int, replicas: int
) -> list[np.ndarray]:
    steps = plan.steps(start, stop)
    real = np.sum(steps.rows >= 0, axis=2)
    rows = steps.rows.reshape(stop - start, plan.groups, replicas, -1)
    rows = rows.swapaxes(1, 2).reshape([-1, plan.groups, rows.shape[-1]])
    return [
        np.repeat(steps.tasks, replicas, axis=0),
        np.repeat(steps.lengths, replicas),
        rows,
        np.repeat(np.maximum(real, 1), replicas, axis=0).astype(np.float32),
        np.repeat(np.arange(start, stop), replicas),
    ]


def _make_batch(
    store: ExampleStore, static_shapes: bool, plan: dict[str, tf.Tensor]
) -> Batch:
    rows, length = plan["rows"], plan["length"]
    if not static_shapes:
        rows = tf.boolean_mask(rows, tf.reduce_any(rows >= 0, axis=0), axis=1)
        length = None
    return {
        "task": plan["task"],
        **store.gather(plan["task"], rows, length),
        "weight": tf.cast(rows >= 0, tf.float32),
        "normalizer": plan["normalizer"],
        "step": plan["step"],
    }


def evaluation_dataset(
    split: EncodedSplit,
    task_index: int,
    batch_size: int,
    boundaries: Sequence[int],
) -> tf.data.Dataset:
    """The batches of one split, every row once, from short texts to long ones.

    Args:
        split: the encoded split; it may be empty.
        task_index: the task of all batches.
        batch_size: B; the last batch has filler rows.
        boundaries: padded lengths; the last is doubled until the longest text
            fits.

    Returns:
        A data set of batches with G = 1, and `row` int32 [1, B]: the row's
        place in the split, -1 for filler.

    Raises:
        ConfigError: a wrong `batch_size` or `boundaries`.
    """
    checks.positive_integer("evaluation.batch_size", batch_size)
    longest = int(split.lengths.max(initial=0))
    lengths = extend_boundaries(check_boundaries(boundaries), longest)
    buckets = bucket_of(split.lengths, lengths)
    order = np.argsort(split.lengths, kind="stable")
    batches = cut_into_batches(order, buckets[order], batch_size, carry=True)
    count = len(batches.rows)
    real = np.sum(batches.rows >= 0, axis=1, keepdims=True)
    plan = {
        "task": np.full([count, 1], task_index, np.int32),
        "length": np.asarray(lengths, np.int32)[batches.buckets],
        "rows": batches.rows[:, None],
        "normalizer": np.maximum(real, 1).astype(np.float32),
        "step": np.arange(count, dtype=np.int64),
    }
    store = ExampleStore([split])

    def make(step: dict[str, tf.Tensor]) -> Batch:
        # The store has one split, whatever the task's number.
        alone = {**step, "task": tf.zeros_like(step["task"])}
        batch = _make_batch(store, True, alone)
        return {**batch, "task": step["task"], "row": step["rows"]}

    dataset = tf.data.Dataset.from_tensor_slices(plan)
    batches = dataset.map(make, num_parallel_calls=2)
    return fixed(batches.prefetch(_PREFETCHED))
