"""Gradients of a joint step, task by task.

The groups of a batch go through the model one after another in a graph loop,
each forward and backward by itself: that is the work of one joint step (a
backward pass over the whole batch for every task would be G times as much),
but in G smaller pieces, and the graph has the model once: PCGrad on four small
tasks took 29.8 ms of processor time a step, a joint step 28.1. Gradients of
weights that the tasks share are kept by group; the products of two tasks'
gradients are those of the global batch, summed over the replicas before they
are multiplied, because a sum of the replicas' products would be none. What a
replica then hands to the optimizer is its own part of the combination.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from mtl_tf.core import random
from mtl_tf.training.gradient_surgery import pcgrad_weights, projection_order
from mtl_tf.training.losses import (
    auxiliary_loss,
    group_losses,
    recording,
    weighted,
)

# Between the dropout seeds of two groups or shards; replicas count from 0.
SEED_STEP = 7919


class Stacked(NamedTuple):
    """The gradients of G groups, by the number of the variable.

    Attributes:
        dense: float [G, ...] each.
        values: float [G, N, ...] each, of the sparse ones.
        rows: int64 [G, N] each, which rows those are, in any order, repeated.
    """

    dense: dict[int, tf.Tensor]
    values: dict[int, tf.Tensor]
    rows: dict[int, tf.Tensor]


class GroupedGradients:
    """Computes the gradients of a joint step, combined by the chosen methods.

    Args:
        model: see `Trainer`.
        loss_weighting: see `Trainer`; one with `update` (GradNorm) is updated.
        variables: what is trained.
        shared: which of them are the tasks' common ones, that surgery acts on.
        balanced: of which of them GradNorm balances the gradients.
        surgery: one of `gradient_surgery.SURGERIES`.
        seed: the run's seed, for the order of projections.
    """

    def __init__(
        self,
        model: keras.Model,
        loss_weighting: keras.layers.Layer,
        variables: Sequence[keras.Variable],
        shared: Sequence[keras.Variable],
        balanced: Sequence[keras.Variable] = (),
        surgery: str = "none",
        seed: int = 0,
    ):
        self.model, self.loss_weighting = model, loss_weighting
        self.variables = list(variables)
        self.shared = self._numbers(shared)
        self.balanced = self._numbers(balanced)
        self.surgery = surgery
        self.seed = random.fold(seed, "surgery") % (2**30)
        self._one = tf.function(self._gradients_of_one, autograph=False)

    def __call__(
        self, batch: dict[str, tf.Tensor], seed: tf.Tensor, share: float
    ) -> tuple[list, tf.Tensor]:
        """The gradients of a step, within a replica.

        Args:
            batch: of this replica, G groups.
            seed: int32 [2], for dropout.
            share: one over the number of replicas.

        Returns:
            The gradient of each variable, None where there is none, and the
            groups' losses, float32 [G].
        """
        stacked, loss, has_extra = self._stacked(batch, seed, share)
        weights, groups = tf.ones_like(loss), tf.shape(loss)[0]
        if self.surgery == "pcgrad":
            products = self._products(stacked, self.shared, groups)
            step = tf.cast(batch["step"], tf.int32)
            order = projection_order(groups, tf.stack([self.seed, step]))
            weights = pcgrad_weights(products, order)
        if self.loss_weighting.adapts:
            products = self._products(stacked, self.balanced, groups)
            norms = tf.sqrt(tf.linalg.diag_part(products))
            whole = _summed([loss])[0]
            self.loss_weighting.update(batch["task"], whole, norms)
        gradients = [
            self._combined(stacked, number, weights)
            for number in range(len(self.variables))
        ]
        if has_extra:
            extra = self._gradients_of_extra(batch, seed, share)
            gradients = [added(*pair) for pair in zip(gradients, extra)]
        return gradients, loss

    def _numbers(self, variables: Sequence[keras.Variable]) -> set[int]:
        wanted = {id(v) for v in variables}
        return {n for n, v in enumerate(self.variables) if id(v) in wanted}

    def _stacked(
        self, batch: dict[str, tf.Tensor], seed: tf.Tensor, share: float
    ) -> tuple[Stacked, tf.Tensor, bool]:
        """All groups' gradients and losses, and whether there are others."""
        pieces = {k: v for k, v in batch.items() if k != "step"}
        numbers = tf.range(tf.shape(batch["task"])[0])
        specs = {
            k: tf.TensorSpec(v.shape[1:], v.dtype) for k, v in pieces.items()
        }
        traced = self._one.get_concrete_function(
            specs, batch["step"], tf.TensorSpec([2], tf.int32), share
        )
        signature = tf.nest.map_structure(
            lambda t: tf.TensorSpec(t.shape, t.dtype), traced.structured_outputs
        )
        outputs = tf.map_fn(
            lambda item: self._one(
                item[0],
                batch["step"],
                seed + tf.stack([item[1] * SEED_STEP, 0]),
                share,
            ),
            (pieces, numbers),
            fn_output_signature=signature,
        )
        parts = (outputs["dense"], outputs["values"], outputs["rows"])
        by_number = [{int(k): v for k, v in part.items()} for part in parts]
        return Stacked(*by_number), outputs["loss"], "extra" in outputs

    def _gradients_of_one(
        self,
        piece: dict[str, tf.Tensor],
        step: tf.Tensor,
        seed: tf.Tensor,
        share: float,
    ) -> dict[str, Any]:
        """The loss of one group, given without its axis, and its gradients."""
        batch = {name: value[None] for name, value in piece.items()}
        batch["step"] = step
        with recording(self.variables) as tape:
            outputs = self.model(batch, training=True, seed=seed)
            loss = group_losses(outputs, batch)
            part = weighted(self.loss_weighting, batch["task"], loss, share)
            total = tf.reduce_sum(part)
        values = [variable.value for variable in self.variables]
        found = {
            str(number): gradient
            for number, gradient in enumerate(tape.gradient(total, values))
            if gradient is not None
        }
        sparse = {
            k: g for k, g in found.items() if isinstance(g, tf.IndexedSlices)
        }
        result = {
            "loss": loss[0],
            "dense": {k: g for k, g in found.items() if k not in sparse},
            "values": {k: g.values for k, g in sparse.items()},
            "rows": {
                k: tf.cast(g.indices, tf.int64) for k, g in sparse.items()
            },
        }
        # Told by its presence: losses of the scheme itself belong to no task.
        return result | ({"extra": loss[0]} if outputs["losses"] else {})

    def _gradients_of_extra(
        self, batch: dict[str, tf.Tensor], seed: tf.Tensor, share: float
    ) -> list:
        """The gradients of the losses that the scheme adds, of all groups."""
        with recording(self.variables) as tape:
            outputs = self.model(batch, training=True, seed=seed)
            total = auxiliary_loss(outputs, batch, share)
        values = [variable.value for variable in self.variables]
        return tape.gradient(total, values)

    def _products(
        self, stacked: Stacked, numbers: set[int], groups: tf.Tensor
    ) -> tf.Tensor:
        """The inner products of the groups' whole gradients, float [G, G]."""
        dense = [g for n, g in stacked.dense.items() if n in numbers]
        sizes = [int(v.shape[0]) for v in self.variables]
        sparse = {n: g for n, g in stacked.values.items() if n in numbers}
        keyed = [
            _keyed(g, stacked.rows[n], sizes[n]) for n, g in sparse.items()
        ]
        reduced = _summed([*dense, *keyed])
        total = tf.zeros([groups, groups])
        for gradient in reduced[: len(dense)]:
            total += _gram(gradient, groups)
        for gradient, number in zip(reduced[len(dense) :], sparse):
            total += _gram(_by_group(gradient, sizes[number], groups), groups)
        return total

    def _combined(
        self, stacked: Stacked, number: int, weights: tf.Tensor
    ) -> tf.Tensor | tf.IndexedSlices | None:
        """A variable's gradient; `weights` [G] count on shared ones only."""
        if number not in self.shared:
            weights = tf.ones_like(weights)
        if number in stacked.dense:
            return tf.tensordot(weights, stacked.dense[number], 1)
        if number not in stacked.values:
            return None
        values, rows = stacked.values[number], stacked.rows[number]
        shape = tf.concat([[-1], tf.ones([tf.rank(values) - 1], tf.int32)], 0)
        values *= tf.reshape(weights, shape)
        return tf.IndexedSlices(
            tf.reshape(values, [-1, *values.shape[2:]]),
            tf.reshape(rows, [-1]),
            tf.constant(list(self.variables[number].shape), tf.int64),
        )


def _summed(tensors: list) -> list:
    """Sums tensors over the replicas; sparse ones are set side by side."""
    replica = tf.distribute.get_replica_context()
    if replica.num_replicas_in_sync == 1 or not tensors:
        return tensors
    return replica.all_reduce(tf.distribute.ReduceOp.SUM, tensors)


def _keyed(values: tf.Tensor, rows: tf.Tensor, size: int) -> tf.IndexedSlices:
    """Sparse gradients of G groups as one of a [G * size, ...] matrix."""
    groups = tf.shape(rows, tf.int64)[0]
    keys = rows + size * tf.range(groups, dtype=tf.int64)[:, None]
    shape = tf.concat(
        [[groups * size], tf.constant(values.shape[2:].as_list(), tf.int64)], 0
    )
    flat = tf.reshape(values, [-1, *values.shape[2:]])
    return tf.IndexedSlices(flat, tf.reshape(keys, [-1]), shape)


def _by_group(
    keyed: tf.IndexedSlices, size: int, groups: tf.Tensor
) -> tf.Tensor:
    """What `_keyed` made, with repeats summed: [G, rows in use, ...]."""
    used, place = tf.unique(keyed.indices % size)
    count = tf.size(used, tf.int64)
    group = keyed.indices // size
    place = group * count + tf.cast(place, tf.int64)
    total = tf.cast(groups, tf.int64) * count
    return tf.math.unsorted_segment_sum(keyed.values, place, total)


def _gram(gradients: tf.Tensor, groups: tf.Tensor) -> tf.Tensor:
    flat = tf.cast(tf.reshape(gradients, [groups, -1]), tf.float32)
    return tf.matmul(flat, flat, transpose_b=True)


def added(one: Any, other: Any) -> Any:
    """The sum of two gradients, either of which may be None or sparse."""
    if one is None or other is None:
        return other if one is None else one
    sparse = [isinstance(g, tf.IndexedSlices) for g in (one, other)]
    if not all(sparse):
        return tf.convert_to_tensor(one) + tf.convert_to_tensor(other)
    rows = [tf.cast(g.indices, tf.int64) for g in (one, other)]
    return tf.IndexedSlices(
        tf.concat([one.values, other.values], 0),
        tf.concat(rows, 0),
        one.dense_shape,
    )
