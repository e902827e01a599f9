"""Batches: the plan of all steps, and the tf.data that carries it out.

The plan is a pure function of the step number: which tasks, which rows, which
padded length. The data set is a map over step numbers that asks the plan for a
few hundred steps at once and gathers their rows. So it starts at
any step at once, a resumed run sees what an uninterrupted one saw, and there
is no stream per task to skip forward (the form `choose_from_datasets` takes).

A batch is a dict of tensors: what every batch has,

    task        int32   [G]        the task of each group
    weight      float32 [G, B]     0 on padding rows, else 1
    normalizer  float32 [G]        real examples of the group in the global
                                   batch; 1 where there are none, so that it
                                   always divides
    step        int64   scalar

and the columns of the encoded splits, [G, B, ...], with a time axis
[G, B, T, ...]; 0 is padding. A run of tasks with different features has all of
them in all batches (`encoded_split.alike`). What the columns are follows from
the features that a task type declares, such as "tokens", "characters",
"casing" and "label"; each time axis has a length T of its own.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.buckets import (
    Boundaries,
    bucket_of,
    check_boundaries,
    extend_boundaries,
    of_axes,
)
from mtl_tf.pipelines.encoded_split import EncodedSplit
from mtl_tf.pipelines.epoch_order import (
    EVALUATED_CELLS,
    cut_into_batches,
    evaluation_sizes,
)
from mtl_tf.pipelines.example_store import Store, make_store
from mtl_tf.pipelines.plan import BatchPlan, Steps
from mtl_tf.pipelines.without_autotuning import fixed

__all__ = [
    "BatchPlan",
    "Steps",
    "evaluation_batches",
    "make_batch",
    "plan_pieces",
    "training_dataset",
]

_STEPS_AT_ONCE = 256
_PREFETCHED = 32

Batch = dict[str, tf.Tensor]


def training_dataset(
    plan: BatchPlan,
    start_step: int = 0,
    replicas: int = 1,
    stop_step: int | None = None,
    part: range | None = None,
) -> tf.data.Dataset:
    """The batches of a run from a step on.

    Args:
        plan: the plan of the run.
        start_step: the step of the first batch; any step costs the same.
        replicas: R: every step comes as R batches one after another, with the
            rows 0 to B/R - 1, then B/R to 2 B/R - 1, ... Their `normalizer`
            counts the rows of all R.
        stop_step: the step after the last one; None: without end.
        part: the replicas of this process, if it has not all of them: only
            their pieces come.

    Returns:
        A data set of batches as described at the top of this file, shapes
        [G, B / R] and [G, B / R, None]; without `plan.static_shapes` or
        where B varies, [G, None] and [G, None, None].

    Raises:
        ConfigError: B is not a multiple of `replicas`, or `replicas` > 1
            without static shapes.
    """
    _check_replicas(plan, replicas)
    stop = np.iinfo(np.int64).max if stop_step is None else stop_step
    store = make_store(plan.splits)
    batch = functools.partial(make_batch, store, plan.static_shapes)
    part = range(replicas) if part is None else part
    chunks = tf.data.Dataset.range(start_step, stop, _STEPS_AT_ONCE).map(
        functools.partial(_plan_chunk, plan, replicas, part, stop)
    )
    # Two calls keep ahead of training without taking its cores.
    return fixed(
        chunks.prefetch(1)
        .unbatch()
        .map(batch, num_parallel_calls=2)
        .prefetch(_PREFETCHED * len(part))
    )


def _check_replicas(plan: BatchPlan, replicas: int) -> None:
    checks.positive_integer("replicas", replicas)
    uneven = plan.batch_sizes[plan.batch_sizes % replicas > 0]
    if uneven.size:
        raise ConfigError(
            f"pipeline.batch_size must be a multiple of the {replicas} "
            f"replicas, got {uneven[-1]}"
            + " (within pipeline.tokens_per_batch)"
            * plan.varies
        )
    if replicas > 1 and not plan.static_shapes:
        raise ConfigError(
            f"{replicas} replicas need static shapes: a smaller last batch "
            "cannot be split evenly"
        )


@tf.autograph.experimental.do_not_convert
def _plan_chunk(
    plan: BatchPlan, replicas: int, part: range, stop: int, start: tf.Tensor
) -> dict[str, tf.Tensor]:
    """The plan of the steps from `start` on, one row a replica and step."""

    def compute(first: np.int64) -> list[np.ndarray]:
        last = int(min(first + _STEPS_AT_ONCE, stop))
        pieces = plan_pieces(plan, int(first), last, replicas, part)
        return [pieces[key] for key in shapes]

    shapes = {
        "task": (tf.int32, [None, plan.groups]),
        "length": (tf.int32, [None, *plan.sides]),
        "rows": (tf.int32, [None, plan.groups, plan.batch_size // replicas]),
        "normalizer": (tf.float32, [None, plan.groups]),
        "step": (tf.int64, [None]),
        "size": (tf.int32, [None]),
    }
    types = [dtype for dtype, _ in shapes.values()]
    values = tf.numpy_function(compute, [start], types)
    chunk = {
        key: tf.ensure_shape(value, shape)
        for value, (key, (_, shape)) in zip(values, shapes.items())
    }
    if not plan.varies:
        del chunk["size"]
    return chunk


def plan_pieces(
    plan: BatchPlan, start: int, stop: int, replicas: int, part: range
) -> dict[str, np.ndarray]:
    """What batches are made from, step by step, replica by replica.

    Args:
        plan: the plan of the run.
        start: the first step.
        stop: the step after the last one.
        replicas: see `training_dataset`.
        part: see `training_dataset`.

    Returns:
        For each of n = (stop - start) x len(part) pieces `task` int32 [n, G],
        `length` int32 [n] or [n, axes], `rows` int32 [n, G, B / R] with -1 for
        padding, `normalizer` float32 [n, G], `step` int64 [n], and `size`
        int32 [n]: how many of the rows there are, where B varies.
    """
    steps = plan.steps(start, stop)
    real = np.sum(steps.rows >= 0, axis=2)
    # Replica r has the rows from r B / R on; after its last come padding rows.
    sizes = steps.sizes // replicas
    places = np.arange(plan.batch_size // replicas)
    inside = places < sizes[:, None]
    places = np.array(part)[:, None] * sizes[:, None, None] + places
    places = np.where(inside[:, None], places, 0)[:, :, None]
    rows = np.take_along_axis(steps.rows[:, None], places, axis=3)
    rows = np.where(inside[:, None, None], rows, -1)
    count, counts = len(part), np.maximum(real, 1).astype(np.float32)
    return {
        "task": np.repeat(steps.tasks, count, axis=0),
        "length": np.repeat(steps.lengths, count, axis=0),
        "rows": rows.reshape([-1, plan.groups, rows.shape[-1]]).astype(
            np.int32
        ),
        "normalizer": np.repeat(counts, count, axis=0),
        "step": np.repeat(np.arange(start, stop), count),
        "size": np.repeat(sizes, count),
    }


@tf.autograph.experimental.do_not_convert
def make_batch(
    store: Store, static_shapes: bool, plan: dict[str, tf.Tensor]
) -> Batch:
    """A batch of a piece of the plan.

    Args:
        store: the examples.
        static_shapes: of the plan.
        plan: one of `plan_pieces`; `size` only where B varies.
    """
    rows, length = plan["rows"], plan["length"]
    if not static_shapes:
        rows = tf.boolean_mask(rows, tf.reduce_any(rows >= 0, axis=0), axis=1)
        length = None
    elif "size" in plan:
        rows = rows[:, : plan["size"]]
    return {
        "task": plan["task"],
        **store.gather(plan["task"], rows, length),
        "weight": tf.cast(rows >= 0, tf.float32),
        "normalizer": plan["normalizer"],
        "step": plan["step"],
    }


def evaluation_batches(
    split: EncodedSplit,
    task_index: int,
    batch_size: int,
    boundaries: Boundaries,
    axes: Sequence[str] = (),
    trim: bool = False,
    cells: int = EVALUATED_CELLS,
) -> Iterator[Batch]:
    """The batches of one split, every row once, from short texts to long ones.

    They are made in Python, one after another: a data set would first trace
    its functions, which takes longer than all batches of a small split, and
    rows are gathered in less than a hundredth of the time of a forward pass.

    Args:
        split: the encoded split; it may be empty.
        task_index: the task of all batches.
        batch_size: B; the last batch has padding rows. Batches of very long
            texts are smaller; see `evaluation_sizes`.
        boundaries: padded lengths; the last is doubled until the longest text
            fits.
        axes: the time axes that the boundaries are of, in their order; the
            split may have some of them only. By default those of the split.
        trim: pad to the longest text of a batch, not to the bucket: few texts
            need no few shapes.
        cells: of a batch at most, with padding, if it has several examples.

    Yields:
        Batches as described at the top of this file, with G = 1, and `row`
        int32 [1, B]: the row's place in the split, -1 for padding rows.

    Raises:
        ConfigError: a wrong `batch_size` or `boundaries`.
    """
    checks.positive_integer("evaluation.batch_size", batch_size)
    boundaries = check_boundaries(boundaries)
    if axes and tuple(axes) != split.axes:
        places = [list(axes).index(axis) for axis in split.axes]
        boundaries = of_axes(boundaries, places)
    longest = split.lengths.max(axis=0, initial=0)
    lengths = extend_boundaries(boundaries, longest)
    buckets = bucket_of(split.lengths, lengths)
    tokens = split.lengths.sum(axis=tuple(range(1, split.lengths.ndim)))
    order = np.lexsort((tokens, buckets))
    sizes = evaluation_sizes(lengths, batch_size, cells)
    batches = cut_into_batches(order, buckets[order], sizes)
    for step, (rows, bucket) in enumerate(zip(batches.rows, batches.buckets)):
        rows = rows[: sizes[bucket]].astype(np.int32)
        real = rows >= 0
        padded = lengths[bucket]
        if trim:
            padded = np.maximum(split.lengths[rows[real]].max(axis=0), 1)
        parts = {
            "task": np.array([task_index], np.int32),
            **{
                name: column[None]
                for name, column in split.gather(rows, padded).items()
            },
            "weight": real[None].astype(np.float32),
            "normalizer": np.array([max(real.sum(), 1)], np.float32),
            "step": np.int64(step),
            "row": rows[None],
        }
        yield {name: tf.constant(part) for name, part in parts.items()}
