"""Batches: the plan of all steps, and the tf.data that follows it.

The plan is a pure function of the step number: which tasks, which rows, which
padded length. The dataset maps step numbers: it asks the plan for a few hundred
steps at once and gathers their rows. So it starts at any step immediately, and
a resumed run sees the same batches as an uninterrupted one. No per-task streams
need skipping (as with `choose_from_datasets`).

A batch is a dict of tensors. Every batch has

    task        int32   [G]        the task of each group
    weight      float32 [G, B]     0 on padding rows, else 1
    normalizer  float32 [G]        real examples of the group in the global
                                   batch; at least 1, as it is a divisor
    step        int64   scalar

and the columns of the encoded splits, [G, B, ...], or with a time axis
[G, B, T, ...]; 0 is padding. If tasks have different features, all batches have
the features of all tasks (`encoded_split.alike`). The columns, such as
"tokens", "characters", "casing" and "label", follow from the features that a
task type declares. Each time axis has its own length T.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.examples.example_store import Store, make_store
from mtl_tf.pipelines.schedule.buckets import (
    Boundaries,
    bucket_of,
    check_boundaries,
    extend_boundaries,
    of_axes,
)
from mtl_tf.pipelines.schedule.epoch_order import (
    EVALUATED_CELLS,
    cut_into_batches,
    evaluation_sizes,
)
from mtl_tf.pipelines.schedule.plan import BatchPlan, Steps
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
    """The batches of a run from some step on.

    Args:
        plan: the run's plan.
        start_step: the step of the first batch; any step costs the same.
        replicas: R: every step gives R consecutive batches, with the rows 0 to
            B/R - 1, then B/R to 2 B/R - 1, ... Their `normalizer` counts the
            rows of all R.
        stop_step: the step after the last one; None for no end.
        part: this process's replicas, if not all; only their pieces are made.

    Returns:
        A dataset of batches as described at the top of this file, of shapes [G,
        B / R] and [G, B / R, None]. Without `plan.static_shapes`, or if B
        varies, [G, None] and [G, None, None].

    Raises:
        ConfigError: B is no multiple of `replicas`, or `replicas` > 1 without
            static shapes.
    """
    _check_replicas(plan, replicas)
    stop = np.iinfo(np.int64).max if stop_step is None else stop_step
    store = make_store(plan.splits)
    batch = functools.partial(make_batch, store, plan.static_shapes)
    part = range(replicas) if part is None else part
    chunks = tf.data.Dataset.range(start_step, stop, _STEPS_AT_ONCE).map(
        functools.partial(_plan_chunk, plan, replicas, part, stop)
    )
    # Two calls stay ahead of training without taking its cores.
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
            f"replicas, got {uneven[-1] // plan.parts}"
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
    """The plan of the steps from `start` on, one row per replica and step."""

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
    """What batches are made from, by step and then by replica.

    Args:
        plan: the run's plan.
        start: the first step.
        stop: the step after the last one.
        replicas: see `training_dataset`.
        part: see `training_dataset`.

    Returns:
        For each of n = (stop - start) x len(part) pieces: `task` int32 [n, G],
        `length` int32 [n] or [n, axes], `rows` int32 [n, G, B / R] with -1 for
        padding, `normalizer` float32 [n, G], `step` int64 [n], and, if B
        varies, `size` int32 [n], the number of rows.
    """
    steps = plan.steps(start, stop)
    real = np.sum(steps.rows >= 0, axis=2)
    # Replica r has the rows from r B / R on, and then padding rows.
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
    """The batch of one piece of the plan.

    Args:
        store: the examples.
        static_shapes: the plan's `static_shapes`.
        plan: one piece of `plan_pieces`; `size` only if B varies.
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
    """The batches of a split, every row once, from short to long texts.

    They are made in Python, one by one. A dataset would first trace its
    functions, which takes longer than all batches of a small split; gathering
    rows takes less than a hundredth of the time of a forward pass.

    Args:
        split: the encoded split; it may be empty.
        task_index: the task of all batches.
        batch_size: B; the last batch has padding rows. Batches of very long
            texts are smaller; see `evaluation_sizes`.
        boundaries: padded lengths; the last is doubled until the longest text
            fits.
        axes: the time axes of the boundaries, in order, of which the split may
            lack some. By default the axes of the split.
        trim: pad to the longest text of a batch, not to the bucket. This suits
            few texts, for which many shapes are no cost.
        cells: the most cells of a batch, with padding, unless it has only one
            example.

    Yields:
        Batches as described at the top of this file, with G = 1, and `row`
        int32 [1, B]: the index of the row in the split, -1 for padding rows.

    Raises:
        ConfigError: wrong `batch_size` or `boundaries`.
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
