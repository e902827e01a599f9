"""The losses that a training step minimises, one per group of a batch."""

import contextlib
from collections.abc import Iterator, Sequence

import keras
import tensorflow as tf


@contextlib.contextmanager
def recording(
    variables: Sequence[keras.Variable],
) -> Iterator[tf.GradientTape]:
    """A gradient tape that watches only the given variables.

    By default a tape watches every variable that is read. The backward pass
    would then go through frozen layers below the lowest trained weight, and
    compute gradients that nobody needs.
    """
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([variable.value for variable in variables])
        yield tape


def group_losses(
    outputs: dict[str, tf.Tensor], batch: dict[str, tf.Tensor]
) -> tf.Tensor:
    """Each group's summed loss divided by its number of examples.

    Args:
        outputs: `loss`, float32 [G, B].
        batch: `weight` [G, B], 0 on padding rows, and `normalizer` [G], the
            number of the group's examples in the global batch.

    Returns:
        float32 [G].
    """
    weighted_rows = tf.reduce_sum(outputs["loss"] * batch["weight"], axis=1)
    return weighted_rows / tf.maximum(batch["normalizer"], 1.0)


def weighted(
    loss_weighting: keras.layers.Layer,
    task: tf.Tensor,
    loss: tf.Tensor,
    share: float,
) -> tf.Tensor:
    """One replica's share of the weighted losses.

    Args:
        loss_weighting: see `training.loss_weighting`.
        task: int32 [G].
        loss: float32 [G], this replica's part of the losses.
        share: one over the number of replicas.

    Returns:
        float32 [G]. Summed over the replicas, this is the weighting applied to
        the whole losses.
    """
    if share == 1.0:
        return loss_weighting(task, loss)
    # The weighting is affine in the loss: replicas share its constant part.
    constant = loss_weighting(task, tf.zeros_like(loss))
    return loss_weighting(task, loss) - (1.0 - share) * constant


def auxiliary_loss(
    outputs: dict[str, tf.Tensor], batch: dict[str, tf.Tensor], shared: float
) -> tf.Tensor:
    """The sum of the model's auxiliary losses on this replica.

    Args:
        outputs: `losses` by name. A loss of shape [G, B] is per example:
            padding rows do not count, and each group's mean is over its
            examples in the global batch, as in `group_losses`. A scalar is the
            loss of the whole replica, and replicas are averaged.
        batch: see `group_losses`.
        shared: one over the number of replicas.

    Returns:
        A scalar; 0 if there are no auxiliary losses.
    """
    total = tf.constant(0.0)
    for loss in outputs["losses"].values():
        if loss.shape.rank == 2:
            total += tf.reduce_sum(group_losses({"loss": loss}, batch))
        else:
            total += shared * loss
    return total
