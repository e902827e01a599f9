"""Gradients of a joint step, computed task by task.

The groups of a batch go through the model one after another in a graph loop,
each with its own forward and backward pass. In total this is the work of one
joint step, in G smaller pieces. (A backward pass over the whole batch for every
task would be G times as much.) The graph contains the model once. With PCGrad
on four small tasks a step took 29.8 ms of processor time, a joint step 28.1.

Gradients of weights that the tasks share are kept by group. The products of two
tasks' gradients are those of the global batch. Therefore gradients are summed
over the replicas before they are multiplied; a sum of the replicas' products
would be wrong. Each replica then passes its own part of the combination to the
optimizer.

A step of several pieces has one such loop per piece. The gradients of all
groups are combined together.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import random, replicas
from mtl_tf.training.balancing import stacked_gradients
from mtl_tf.training.balancing.gradient_surgery import (
    pcgrad_weights,
    projection_order,
)
from mtl_tf.training.balancing.stacked_gradients import Stacked, added, products
from mtl_tf.training.losses import (
    auxiliary_loss,
    group_losses,
    recording,
    weighted,
)
from mtl_tf.training.pieces import SEED_STEP, Piece, joined


class GroupedGradients:
    """Computes the gradients of a joint step, combined by the chosen methods.

    Args:
        model: see `Trainer`.
        loss_weighting: see `Trainer`; one with `update` (GradNorm) is updated.
        variables: the variables to train.
        shared: those of them that all tasks share, on which surgery acts.
        balanced: those of them whose gradients GradNorm balances.
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
        self._group_gradients = tf.function(
            self._gradients_of_one, autograph=False
        )

    def __call__(
        self, pieces: Sequence[Piece], seed: tf.Tensor, share: float
    ) -> tuple[list, tf.Tensor]:
        """The gradients of a step, within a replica.

        Args:
            pieces: the batches of this replica, with G groups in total.
            seed: int32 [2], for dropout.
            share: one over the number of replicas.

        Returns:
            The gradient of each variable, or None, and the groups' losses,
            float32 [G].
        """
        stacks, losses, extra = [], [], [None] * len(self.variables)
        for piece in pieces:
            stack, loss, has_extra = self._stacked(piece, seed, share)
            if has_extra:
                more = self._gradients_of_extra(piece, seed, share)
                extra = [added(*pair) for pair in zip(extra, more)]
            stacks.append(stack)
            losses.append(loss)
            # Seeds of the next piece's groups continue from here.
            seed += tf.stack([stack.groups * SEED_STEP, 0])
        loss = joined(losses)
        weights = self._weights(pieces, stacks, loss)
        gradients = []
        for number, variable in enumerate(self.variables):
            # The coefficients apply to shared variables only.
            factors = (
                weights if number in self.shared else tf.ones_like(weights)
            )
            total = stacked_gradients.combined(
                stacks, number, variable, factors
            )
            gradients.append(added(total, extra[number]))
        return gradients, loss

    def _weights(
        self, pieces: Sequence[Piece], stacks: list[Stacked], loss: tf.Tensor
    ) -> tf.Tensor:
        """The coefficient of each group's gradient in the step, float32 [G].

        Also updates GradNorm's factors, which the losses already contain, for
        the next step.
        """
        weights, groups = tf.ones_like(loss), tf.shape(loss)[0]
        if self.surgery == "pcgrad":
            gram = products(stacks, self.shared, self.variables)
            step = tf.cast(pieces[0].batch["step"], tf.int32)
            order = projection_order(groups, tf.stack([self.seed, step]))
            weights = pcgrad_weights(gram, order)
        if self.loss_weighting.adapts:
            # All norms must be of the same weights, even if pieces use
            # different ones.
            common = set.intersection(*(stack.numbers for stack in stacks))
            gram = products(stacks, self.balanced & common, self.variables)
            norms = tf.sqrt(tf.linalg.diag_part(gram))
            task = joined([piece.batch["task"] for piece in pieces])
            self.loss_weighting.update(task, *replicas.summed([loss]), norms)
        return weights

    def _numbers(self, variables: Sequence[keras.Variable]) -> set[int]:
        ids = {id(v) for v in variables}
        return {n for n, v in enumerate(self.variables) if id(v) in ids}

    def _stacked(
        self, piece: Piece, seed: tf.Tensor, share: float
    ) -> tuple[Stacked, tf.Tensor, bool]:
        """The groups' gradients and losses; whether there are extra losses."""
        batch, key = piece
        by_group = {k: v for k, v in batch.items() if k != "step"}
        groups = tf.shape(batch["task"])[0]
        specs = {
            k: tf.TensorSpec(v.shape[1:], v.dtype) for k, v in by_group.items()
        }
        traced = self._group_gradients.get_concrete_function(
            specs, batch["step"], tf.TensorSpec([2], tf.int32), share, key
        )
        signature = tf.nest.map_structure(
            lambda t: tf.TensorSpec(t.shape, t.dtype), traced.structured_outputs
        )
        outputs = tf.map_fn(
            lambda item: self._group_gradients(
                item[0],
                batch["step"],
                seed + tf.stack([item[1] * SEED_STEP, 0]),
                share,
                key,
            ),
            (by_group, tf.range(groups)),
            fn_output_signature=signature,
        )
        parts = (outputs["dense"], outputs["values"], outputs["rows"])
        by_number = [{int(k): v for k, v in part.items()} for part in parts]
        stack = Stacked(groups, *by_number)
        return stack, outputs["loss"], "extra" in outputs

    def _gradients_of_one(
        self,
        group: dict[str, tf.Tensor],
        step: tf.Tensor,
        seed: tf.Tensor,
        share: float,
        key: Any,
    ) -> dict[str, Any]:
        """The loss and gradients of one group, given without the group axis."""
        batch = {name: value[None] for name, value in group.items()}
        batch["step"] = step
        # The losses that the scheme adds, which it may sum over the replicas,
        # are not used here.
        with recording(self.variables) as tape, replicas.apart():
            outputs = Piece(batch, key).outputs(self.model, seed)
            loss = group_losses(outputs, batch)
            part = weighted(self.loss_weighting, batch["task"], loss, share)
            total = tf.reduce_sum(part)
        values = [variable.value for variable in self.variables]
        gradients = {
            str(number): gradient
            for number, gradient in enumerate(tape.gradient(total, values))
            if gradient is not None
        }
        sparse = {
            k: g
            for k, g in gradients.items()
            if isinstance(g, tf.IndexedSlices)
        }
        result = {
            "loss": loss[0],
            "dense": {k: g for k, g in gradients.items() if k not in sparse},
            "values": {k: g.values for k, g in sparse.items()},
            "rows": {
                k: tf.cast(g.indices, tf.int64) for k, g in sparse.items()
            },
        }
        # Present only if the scheme adds losses, which belong to no task.
        return result | ({"extra": loss[0]} if outputs["losses"] else {})

    def _gradients_of_extra(
        self, piece: Piece, seed: tf.Tensor, share: float
    ) -> list:
        """The gradients of the losses that the scheme adds, over all groups."""
        with recording(self.variables) as tape:
            outputs = piece.outputs(self.model, seed)
            total = auxiliary_loss(outputs, piece.batch, share)
        values = [variable.value for variable in self.variables]
        return tape.gradient(total, values)
