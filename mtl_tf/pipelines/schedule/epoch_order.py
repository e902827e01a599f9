"""The order of a task's examples, epoch by epoch.

All of it is NumPy and a pure function of (seed, task name, epoch). Rows are
indices of examples in their split; -1 is a padding row.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.core.random import generator
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.schedule.buckets import Boundaries, bucket_of
from mtl_tf.text.encoding.questions import OWN_WORDS

#: The most cells of an evaluated batch: 64 texts of 2,048 tokens.
EVALUATED_CELLS = 1 << 17
# In a batch of one bucket: rows are padded to this number.
_MOST_EXAMPLES = 1 << 20


class Batches(NamedTuple):
    """Batches of one task, or of G tasks for joint steps.

    Attributes:
        rows: int32 [batches, B], or [batches, G, B] for joint steps.
        buckets: int32 [batches]: the index of the padded length.
    """

    rows: np.ndarray
    buckets: np.ndarray


def cut_into_batches(
    examples: np.ndarray,
    buckets: np.ndarray,
    batch_size: int | Sequence[int],
) -> Batches:
    """Cuts examples that are sorted by bucket into batches.

    A batch that its bucket cannot fill continues with examples of the next
    larger bucket. So only the last batch has padding rows (and batches that the
    smaller B of the next bucket leaves short).

    Args:
        examples: int [n].
        buckets: int [n], not decreasing: the bucket of each example.
        batch_size: B, or a B for each bucket, not increasing.

    Returns:
        The batches, bucket by bucket, as wide as the largest B. A batch belongs
        to the bucket of its longest example. The number of batches and their
        buckets depend only on the number of examples in each bucket.
    """
    counts = np.bincount(buckets)
    number = max(len(counts), np.size(batch_size))
    sizes = np.broadcast_to(batch_size, number)
    ends = np.cumsum(counts)
    starts, stops, batch_buckets = [], [], []
    first = 0  # index of the first example not yet in a batch
    filled = np.flatnonzero(counts)
    for bucket, following in zip(filled, [*filled[1:], None]):
        size, end = sizes[bucket], ends[bucket]
        room = 0 if following is None else sizes[following]
        if (end - first) % size < room:
            end -= (end - first) % size
        cuts = np.arange(first, end, size)
        starts.append(cuts)
        stops.append(np.minimum(cuts + size, end))
        batch_buckets.append(np.full(len(cuts), bucket))
        first = end
    if not starts:
        empty = np.zeros([0], np.int32)
        return Batches(np.zeros([0, np.max(batch_size)], np.int32), empty)
    starts, stops, batch_buckets = map(
        np.concatenate, (starts, stops, batch_buckets)
    )
    places = starts[:, None] + np.arange(np.max(batch_size))
    real = places < stops[:, None]
    rows = np.where(real, examples[np.where(real, places, 0)], -1)
    return Batches(rows.astype(np.int32), batch_buckets.astype(np.int32))


def axis_weights(
    token_weights: Mapping[str, int], axes: Sequence[str]
) -> list[int]:
    """The weights of each time axis's tokens in a token budget.

    Args:
        token_weights: by axis, if not 1; see `pipeline.token_weights`.
        axes: the time axes of the examples.

    Raises:
        ConfigError: an unknown axis, a wrong number, or only zeros.
    """
    field = "pipeline.token_weights"
    for axis, weight in token_weights.items():
        # Only runs with character n-grams have this axis.
        known = dict.fromkeys([*axes, OWN_WORDS])
        look_up(axis, known, f"time axis in {field}")
        checks.not_negative_integer(f"{field}[{axis!r}]", weight)
    weights = [token_weights.get(axis, 1) for axis in axes]
    if not any(weights):
        raise ConfigError(
            f"{field} must be above 0 for at least one of the time axes "
            f"{', '.join(axes)}: batches would have no end"
        )
    return weights


def batch_sizes(
    boundaries: Boundaries,
    batch_size: int,
    tokens_per_batch: int = 0,
    weights: Sequence[int] = (1,),
    task: str = "",
) -> np.ndarray:
    """B of each bucket.

    Args:
        boundaries: padded lengths, or pairs of lengths.
        batch_size: B, if there is no budget.
        tokens_per_batch: the budget, the most cells of a batch; 0 for none.
        weights: the weight of each time axis's cells in the budget, or one
            number for all; see `axis_weights`.
        task: whose buckets these are, for messages; "" for all tasks'.

    Returns:
        int32 [buckets], not increasing. With a budget, values from 8 on are
        multiples of 8, so that replicas can share them.

    Raises:
        ConfigError: a wrong number, or a budget that one example exceeds.
    """
    checks.positive_integer("pipeline.batch_size", batch_size)
    _check_most("pipeline.batch_size", batch_size, _MOST_EXAMPLES)
    if not checks.not_negative_integer(
        "pipeline.tokens_per_batch", tokens_per_batch
    ):
        return np.full(len(boundaries), batch_size, np.int32)
    cells = _cells(boundaries, weights)
    _check_most(
        "pipeline.tokens_per_batch",
        tokens_per_batch,
        _MOST_EXAMPLES * int(cells[0]),
    )
    if tokens_per_batch < cells[-1]:
        weighted = " and weights" if len(set(weights) | {1}) > 1 else ""
        whose = f" of {task}" if task else ""
        raise ConfigError(
            f"pipeline.tokens_per_batch must hold the longest texts{whose}, "
            f"{cells[-1]} tokens with their padding{weighted}, got "
            f"{tokens_per_batch}; shorter texts (text.max_length) need less"
        )
    return _in_eights(tokens_per_batch // cells)


def _check_most(name: str, value: int, most: int) -> None:
    if value > most:
        raise ConfigError(f"{name} must be at most {most:,}, got {value:,}")


def evaluation_sizes(
    boundaries: Boundaries, batch_size: int, cells: int = EVALUATED_CELLS
) -> np.ndarray:
    """B of each bucket for texts of any length; at most `batch_size`.

    The `cells` of a batch are limited. Otherwise one text of 100,000 tokens
    would pad a whole batch to its length and exhaust the memory.

    Returns:
        int32 [buckets], not increasing, at least 1.
    """
    sizes = np.maximum(_in_eights(cells // _cells(boundaries)), 1)
    return np.minimum(sizes, batch_size)


def _cells(boundaries: Boundaries, weights: Sequence[int] = (1,)) -> np.ndarray:
    """The tokens of an example of each bucket, with padding, on all axes."""
    boxes = np.asarray(boundaries).reshape(len(boundaries), -1)
    return np.sum(boxes * np.asarray(weights), axis=1)


def _in_eights(sizes: np.ndarray) -> np.ndarray:
    return np.where(sizes >= 8, sizes // 8 * 8, sizes).astype(np.int32)


def drawn_evenly(
    draw: np.random.Generator,
    pool: np.ndarray,
    classes: np.ndarray,
    count: int,
) -> np.ndarray:
    """Draws examples of all classes equally often.

    No example of a class is repeated before all others of it were drawn.

    Args:
        draw: the random generator.
        pool: int [n], the examples.
        classes: int [n], their classes.
        count: the number of examples to draw.

    Returns:
        int [count], in random order.
    """
    present = np.unique(classes)
    if not len(present):
        return pool
    quotas = np.full(len(present), count // len(present))
    quotas[draw.permutation(len(present))[: count % len(present)]] += 1
    chosen = [
        _in_turns(draw, pool[classes == label], quota)
        for label, quota in zip(present, quotas)
    ]
    return draw.permutation(np.concatenate(chosen))


def _in_turns(
    draw: np.random.Generator, examples: np.ndarray, count: int
) -> np.ndarray:
    """Examples in random order, repeated up to a number."""
    turns = range(max(1, -(-count // len(examples))))
    shuffled = [draw.permutation(examples) for _ in turns]
    return np.concatenate(shuffled)[:count]


class TaskOrder:
    """The batches of one task.

    Args:
        name: seeds the order together with `seed`.
        split: the task's encoded training split.
        boundaries: the buckets' lengths.
        batch_size: B, or a B for each bucket.
        seed: the run's seed.
        classes: integers [examples], to draw all classes equally often, as far
            as each bucket has them. The length of an epoch stays. So in an
            epoch, examples of a rare class repeat, and some of a frequent class
            are left out. None draws each example once.

    Attributes:
        boundaries: int64 [buckets], or [buckets, axes].
        sizes: int32 [buckets], B of each bucket.
        batch_size: the largest B, the width of rows.
    """

    def __init__(
        self,
        name: str,
        split: EncodedSplit,
        boundaries: Boundaries,
        batch_size: int | Sequence[int],
        seed: int,
        classes: np.ndarray | None = None,
    ):
        self.name = name
        self._classes = classes
        self.boundaries = np.asarray(boundaries)
        self.sizes = np.broadcast_to(batch_size, len(boundaries))
        self.batch_size = int(np.max(batch_size))
        self._seed = seed
        self._buckets = bucket_of(split.lengths, boundaries)
        by_bucket = np.sort(self._buckets)
        #: int32 [batches]: the bucket of each batch of an unshuffled epoch.
        self.batch_buckets = cut_into_batches(
            by_bucket, by_bucket, self.sizes
        ).buckets
        # A step needs one epoch, and a chunk of steps may need two.
        self.epoch = functools.lru_cache(maxsize=2)(self._make_epoch)

    def __len__(self) -> int:
        """The number of batches of one epoch."""
        return len(self.batch_buckets)

    def sorted_epoch(self, epoch: int) -> Batches:
        """The batches of an epoch, bucket by bucket; see `classes`."""
        draw = generator(self._seed, "order", self.name, epoch)
        order = draw.permutation(len(self._buckets))
        order = order[np.argsort(self._buckets[order], kind="stable")]
        buckets = self._buckets[order]
        if self._classes is not None:
            ends = np.cumsum(np.bincount(buckets))[:-1]
            pools = np.split(order, ends)
            order = np.concatenate(
                [self._drawn(draw, pool, len(pool)) for pool in pools]
            )
        return cut_into_batches(order, buckets, self.sizes)

    def _drawn(
        self, draw: np.random.Generator, pool: np.ndarray, count: int
    ) -> np.ndarray:
        """Some examples of a pool in random order."""
        if self._classes is None:
            return draw.permutation(pool)[:count]
        return drawn_evenly(draw, pool, self._classes[pool], count)

    def _make_epoch(self, epoch: int) -> Batches:
        batches = self.sorted_epoch(epoch)
        draw = generator(self._seed, "batches", self.name, epoch)
        order = draw.permutation(len(self))
        return Batches(batches.rows[order], batches.buckets[order])

    def extra(self, epoch: int, bucket: int, count: int) -> np.ndarray:
        """More batches of a bucket, where other tasks have more of them.

        They are drawn from the task's examples of this bucket and, if these do
        not fill a batch, from smaller buckets, the larger ones first. No batch
        repeats an example, and examples repeat only after all were drawn. Only
        a task with fewer than B such examples gets padding rows.

        Returns:
            int32 [count, B].
        """
        pool = self._pool(bucket)
        rows = np.full([count, self.batch_size], -1, np.int32)
        per_turn = max(1, len(pool) // self.batch_size)
        width = min(self.batch_size, len(pool))
        draw = generator(self._seed, "extra", self.name, epoch, bucket)
        for start in range(0, count if width else 0, per_turn):
            number = min(per_turn, count - start)
            turn = self._drawn(draw, pool, number * width)
            rows[start : start + number, :width] = turn.reshape(number, width)
        return rows

    def _pool(self, bucket: int) -> np.ndarray:
        """Examples of the fewest buckets up to `bucket` that fill a batch."""
        sizes = np.bincount(self._buckets, minlength=bucket + 1)[: bucket + 1]
        downwards = np.cumsum(sizes[::-1])
        steps = int(np.searchsorted(downwards, self.batch_size))
        lowest = max(bucket - steps, 0)
        inside = (self._buckets >= lowest) & (self._buckets <= bucket)
        return np.flatnonzero(inside)


class JointOrder:
    """The steps of joint training: a batch of every task, all of one bucket.

    The tasks share one order of buckets.

    In each bucket, an epoch has as many steps as the task with the most batches
    there. Each task is seen whole. Smaller tasks start over within the bucket,
    in a new order (`TaskOrder.extra`).

    Args:
        orders: the order of each task.
        seed: the run's seed.
    """

    def __init__(self, orders: list[TaskOrder], seed: int):
        self._orders = orders
        self._seed = seed
        self.boundaries, self.sizes = orders[0].boundaries, orders[0].sizes
        number = 1 + max(int(order.batch_buckets.max()) for order in orders)
        sizes = [np.bincount(o.batch_buckets, minlength=number) for o in orders]
        self._steps = np.max(sizes, axis=0)
        self.epoch = functools.lru_cache(maxsize=2)(self._make_epoch)

    def __len__(self) -> int:
        """The number of steps of one epoch."""
        return int(self._steps.sum())

    def _make_epoch(self, epoch: int) -> Batches:
        """The steps of an epoch in training order."""
        rows = np.stack(
            [self._rows(order, epoch) for order in self._orders], axis=1
        )
        buckets = np.repeat(np.arange(len(self._steps)), self._steps)
        order = generator(self._seed, "joint", epoch).permutation(len(self))
        return Batches(rows[order], buckets[order].astype(np.int32))

    def _rows(self, order: TaskOrder, epoch: int) -> np.ndarray:
        """One task's rows, int32 [steps, B], bucket by bucket."""
        batches = order.sorted_epoch(epoch)
        rows = []
        for bucket, steps in enumerate(self._steps):
            part = batches.rows[batches.buckets == bucket]
            rows += [part, order.extra(epoch, bucket, int(steps) - len(part))]
        return np.concatenate(rows)
