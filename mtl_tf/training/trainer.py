"""The compiled training function, which takes several steps per call."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from mtl_tf.core import random
from mtl_tf.training.balancing.group_gradients import GroupedGradients
from mtl_tf.training.balancing.stacked_gradients import added
from mtl_tf.training.distribution.workers import Workers
from mtl_tf.training.losses import (
    auxiliary_loss,
    group_losses,
    recording,
    weighted,
)
from mtl_tf.training.optimizers.accumulating import accumulated, split_rows
from mtl_tf.training.pieces import (
    SEED_STEP,
    Batch,
    Piece,
    joined,
    pieces_of,
)


class Report(NamedTuple):
    """Results of one call that took several steps.

    Attributes:
        loss_sum: float32 [tasks], for each task the sum of its batches' mean
            losses, added to the sums that were passed in.
        loss_count: float32 [tasks], number of batches per task, also
            added to what was passed in.
        bad_step: the first step whose loss was not finite, or -1.
        bad_task: a task of that step whose loss was not finite.
        asked: float32, how many replicas belong to workers that were asked to
            stop before these steps. It is the same on all workers.
    """

    loss_sum: tf.Tensor
    loss_count: tf.Tensor
    bad_step: tf.Tensor
    bad_task: tf.Tensor
    asked: tf.Tensor


class Trainer:
    """Takes training steps on the replicas of a strategy.

    A replica's loss is the sum of its groups' weighted mean losses. Each mean
    divides by the number of examples in the global batch. The gradients of the
    replicas therefore add up to the gradient of the whole batch.

    Args:
        model: maps a batch, and the `key` of its tasks, to a dict with `loss`
            [G, B] and `losses`; see `auxiliary_loss`.
        optimizer: configured for `variables`.
        loss_weighting: maps tasks [G] and losses [G] to weighted losses [G].
        variables: the variables to train.
        strategy: the distribution strategy.
        tasks: number of tasks.
        seed: base of the dropout seeds, which are functions of the step.
        grouped: computes the gradients task by task, for gradient surgery and
            GradNorm. None takes the gradient of the summed losses.
        shards: number of parts that each replica's rows are split into when it
            computes the gradient of the summed losses. Shards run in parallel,
            which can be faster on several CPU cores than one part whose every
            operation uses all cores.
        accumulate: number of parts that are computed one after the other, each
            in shards. A step then needs the memory of one part but makes the
            update of the whole batch.

    Attributes:
        most_steps: how many steps a call may take at most; None for no limit.
        workers: the processes that train together.
    """

    def __init__(
        self,
        model: keras.Model,
        optimizer: keras.optimizers.Optimizer,
        loss_weighting: keras.layers.Layer,
        variables: Sequence[keras.Variable],
        strategy: tf.distribute.Strategy,
        tasks: int,
        seed: int = 0,
        grouped: GroupedGradients | None = None,
        shards: int = 1,
        accumulate: int = 1,
    ):
        self.model = model
        self.optimizer = optimizer
        self.loss_weighting = loss_weighting
        self.variables = list(variables)
        self.strategy = strategy
        self.tasks = tasks
        self.seed = random.fold(seed, "dropout") % (2**30)
        self.grouped = grouped
        self.shards = shards
        self.accumulate = accumulate
        # Replicas agree on the size of a gradient once per call. The size of
        # the word vectors' gradient depends on the length of the step's texts.
        several = strategy.num_replicas_in_sync > 1
        self.most_steps = 1 if several else None
        self.workers = Workers(strategy)

    def iterate(
        self, make_dataset: Callable[[int, range], tf.data.Dataset]
    ) -> Iterator[Any]:
        """An iterator over the replicas' batches.

        Args:
            make_dataset: called with the number of replicas in total and the
                range of those on this worker. Returns a dataset that yields,
                for each step, one batch per replica of this worker, in order.
        """
        replicas = self.strategy.num_replicas_in_sync
        if replicas == 1:
            # For one replica a distributed iterator only adds threads and
            # copies.
            return iter(make_dataset(1, range(1)))

        def of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
            share = replicas // context.num_input_pipelines
            first = context.input_pipeline_id * share
            return make_dataset(replicas, range(first, first + share))

        distributed = self.strategy.distribute_datasets_from_function(of_worker)
        return iter(distributed)

    @tf.function(reduce_retracing=True)
    def run(
        self,
        iterator: Iterator[Any],
        steps: tf.Tensor,
        loss_sum: tf.Tensor,
        loss_count: tf.Tensor,
        key: Any = None,
        asked: tf.Tensor | float = 0.0,
    ) -> Report:
        """Takes steps.

        Args:
            iterator: yields the batches of the steps. A joint step of tasks
                that need different graphs gets a tuple of batches.
            steps: how many steps, an int32 scalar.
            loss_sum: initial sums of the report, float32 [tasks]. Adding in the
                order of the steps makes the sums independent of how the steps
                are divided into calls.
            loss_count: initial counts, for the same reason.
            key: the key of the batches of all these steps, for a model whose
                graph depends on the task. Each key gets its own trace. If a
                step has several batches, a tuple with one key per batch.
            asked: float32, 1 if this worker was asked to stop. It is reduced
                along with the losses, so that no worker waits for one that
                stops.
        """
        several = self.workers.several
        bad_step = tf.constant(-1, tf.int64)
        bad_task = tf.constant(-1, tf.int32)
        for _ in tf.range(steps):
            pieces = next(iterator)
            step, task, loss = self.strategy.run(self._step, (pieces, key))
            step, task = self._first(step), self._first(task)
            if several:
                loss = self._with(loss, asked)
            loss = self.strategy.reduce("SUM", loss, axis=None)
            if several:
                loss, asked = loss[:-1], loss[-1]
            rows = task[:, None]
            loss_sum = tf.tensor_scatter_nd_add(loss_sum, rows, loss)
            loss_count = tf.tensor_scatter_nd_add(
                loss_count, rows, tf.ones_like(loss)
            )
            bad = tf.logical_not(tf.math.is_finite(loss))
            if bad_step < 0 and tf.reduce_any(bad):
                bad_step = step
                bad_task = tf.boolean_mask(task, bad)[0]
        asked = tf.convert_to_tensor(asked, tf.float32)
        return Report(loss_sum, loss_count, bad_step, bad_task, asked)

    def _with(self, loss: Any, number: Any) -> Any:
        """The replicas' losses, each with `number` appended."""
        return self.strategy.run(
            lambda values: tf.concat([values, [number]], 0), (loss,)
        )

    def _first(self, value: Any) -> tf.Tensor:
        return self.strategy.experimental_local_results(value)[0]

    # Nothing below uses Python control flow on tensors. Autograph would spend
    # seconds at every start looking for it.
    @tf.autograph.experimental.do_not_convert
    def _step(
        self, batches: Batch | Sequence[Batch], key: Any
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        pieces = pieces_of(batches, key)
        step = pieces[0].batch["step"]
        replica = tf.distribute.get_replica_context()
        number = replica.replica_id_in_sync_group
        seed = tf.stack([self.seed + number, tf.cast(step, tf.int32)])
        shared = 1.0 / replica.num_replicas_in_sync
        compute = self.grouped or self._of_pieces
        gradients, loss = compute(pieces, seed, shared)
        pairs = [
            (gradient, variable)
            for gradient, variable in zip(gradients, self.variables)
            if gradient is not None
        ]
        gradients, variables = map(list, zip(*pairs))
        self.optimizer.apply(gradients, variables)
        return step, joined([piece.batch["task"] for piece in pieces]), loss

    def _of_pieces(
        self, pieces: Sequence[Piece], seed: tf.Tensor, shared: float
    ) -> tuple[list, tf.Tensor]:
        """Runs `_in_parts` for each piece and joins the groups' losses."""
        # The seeds of parts and shards continue from the seed of their piece.
        stride = self.accumulate * self.shards * SEED_STEP
        gradients, losses = zip(
            *(
                self._in_parts(
                    piece, seed + tf.constant([number * stride, 0]), shared
                )
                for number, piece in enumerate(pieces)
            )
        )
        return _sums(gradients), joined(losses)

    def _in_parts(
        self, piece: Piece, seed: tf.Tensor, shared: float
    ) -> tuple[list, tf.Tensor]:
        """Runs `_in_shards` for each part; it treats a part like a replica."""
        if self.accumulate == 1:
            return self._in_shards(piece, seed, shared)

        def compute(part: Batch, number: tf.Tensor) -> tuple[list, tf.Tensor]:
            # The seeds of shards continue from the seed of their part.
            offset = tf.stack([number * self.shards * SEED_STEP, 0])
            return self._in_shards(
                piece._replace(batch=part),
                seed + offset,
                shared / self.accumulate,
            )

        return accumulated(
            compute, piece.batch, self.accumulate, self.variables
        )

    def _in_shards(
        self, piece: Piece, seed: tf.Tensor, shared: float
    ) -> tuple[list, tf.Tensor]:
        """Runs `_together` for each shard; it treats a shard like a replica."""
        if self.shards == 1:
            return self._together(piece, seed, shared)
        parts = split_rows(piece.batch, self.shards)
        gradients, losses = zip(
            *(
                self._together(
                    piece._replace(batch=part),
                    seed + tf.constant([number * SEED_STEP, 0]),
                    shared / self.shards,
                )
                for number, part in enumerate(parts)
            )
        )
        return _sums(gradients), tf.add_n(losses)

    def _together(
        self, piece: Piece, seed: tf.Tensor, shared: float
    ) -> tuple[list, tf.Tensor]:
        """The gradients of the sum of all losses, and the groups' losses."""
        with recording(self.variables) as tape:
            outputs = piece.outputs(self.model, seed)
            loss = group_losses(outputs, piece.batch)
            task = piece.batch["task"]
            total = tf.reduce_sum(
                weighted(self.loss_weighting, task, loss, shared)
            )
            total += auxiliary_loss(outputs, piece.batch, shared)
            # Scales only with the float16 optimizer, which undoes it by itself.
            total = self.optimizer.scale_loss(total)
        values = [variable.value for variable in self.variables]
        return tape.gradient(total, values), loss


def _sums(gradients: Sequence[list]) -> list:
    """Sums each variable's gradients over several lists of gradients."""
    return [functools.reduce(added, column) for column in zip(*gradients)]


def choose_shards(model: keras.Model, strategy: tf.distribute.Strategy) -> int:
    """The number of shards in which steps are computed.

    On CPUs it is always two, so that results do not depend on the number of
    cores. Layers that XLA compiles split their batches themselves.
    """
    accelerated = bool(tf.config.list_logical_devices("GPU"))
    several = strategy.num_replicas_in_sync > 1
    return 1 if model.static_shapes or accelerated or several else 2
