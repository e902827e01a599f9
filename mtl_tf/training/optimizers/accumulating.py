"""Gradient accumulation: a batch computed part by part to save memory."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.training.pieces import Batch

Compute = Callable[[Batch, tf.Tensor], tuple[list, tf.Tensor]]

# Entries without a row axis belong to every part.
_WHOLE = ("task", "normalizer", "step")


def split_rows(batch: Batch, parts: int) -> list[Batch]:
    """Splits a batch, `[G, B, ...]`, by rows into parts of similar size.

    Parts may be empty: B may be unknown while tracing, or less than `parts`.
    """
    return [part_of(batch, number, parts) for number in range(parts)]


def part_of(batch: Batch, number: tf.Tensor | int, parts: int) -> Batch:
    """One of the parts that `split_rows` makes; `number` may be a tensor."""
    rows = tf.shape(batch["weight"])[1]
    start, end = rows * number // parts, rows * (number + 1) // parts
    known = batch["weight"].shape[1]
    even = known is not None and known % parts == 0

    def cut(value: tf.Tensor) -> tf.Tensor:
        part = value[:, start:end]
        if not even:
            return part
        return tf.ensure_shape(
            part, [value.shape[0], known // parts, *value.shape[2:]]
        )

    return {
        name: value if name in _WHOLE else cut(value)
        for name, value in batch.items()
    }


def accumulated(
    compute: Compute,
    batch: Batch,
    parts: int,
    variables: Sequence[keras.Variable],
) -> tuple[list, tf.Tensor]:
    """Computes the parts of a batch one after the other and sums the results.

    A part's loss is divided by the number of examples in the whole batch
    (`normalizer`). The gradients of the parts therefore add up to the gradient
    of the whole, however many examples and tokens each part has.

    Args:
        compute: given a part and its number, int32, returns the gradient of
            each variable, or None, and the groups' losses [G].
        batch: see `Trainer`.
        parts: how many parts.
        variables: the variables of the gradients.

    Returns:
        The same as `compute`. Sparse gradients name the rows of all parts, with
        repeats.
    """

    @tf.autograph.experimental.do_not_convert
    def of_part(whole: Batch, number: tf.Tensor) -> dict[str, Any]:
        gradients, loss = compute(part_of(whole, number, parts), number)
        return {"loss": loss, **_by_kind(gradients)}

    # Traced before the loop, because only a trace shows which gradients are
    # sparse and which are None.
    traced = tf.function(of_part, autograph=False)
    shapes = traced.get_concrete_function(
        batch, tf.TensorSpec([], tf.int32)
    ).structured_outputs
    arrays = tf.nest.map_structure(
        lambda spec: tf.TensorArray(
            spec.dtype, parts, infer_shape=False, element_shape=spec.shape
        ),
        shapes["sparse"],
    )
    sums = {k: tf.zeros(variables[int(k)].shape) for k in shapes["dense"]}

    def body(number, loss, sums, arrays):
        part = traced(batch, number)
        sums = {k: sums[k] + part["dense"][k] for k in sums}
        arrays = {
            k: [a.write(number, v) for a, v in zip(buffers, part["sparse"][k])]
            for k, buffers in arrays.items()
        }
        return number + 1, loss + part["loss"], sums, arrays

    loss = tf.zeros(tf.shape(batch["task"]))
    _, loss, sums, arrays = tf.while_loop(
        lambda number, *_: number < parts,
        body,
        (tf.constant(0), loss, sums, arrays),
        parallel_iterations=1,
        maximum_iterations=parts,
    )
    gradients: list = [None] * len(variables)
    for k, value in sums.items():
        gradients[int(k)] = value
    for k, (values, rows) in arrays.items():
        variable = variables[int(k)]
        gradients[int(k)] = tf.IndexedSlices(
            tf.ensure_shape(values.concat(), [None, *variable.shape[1:]]),
            rows.concat(),
            tf.constant(list(variable.shape), tf.int64),
        )
    return gradients, loss


def _by_kind(gradients: list) -> dict[str, dict[str, Any]]:
    """Gradients by kind and by their variable's number, as a string."""
    dense, sparse = {}, {}
    for number, gradient in enumerate(gradients):
        if isinstance(gradient, tf.IndexedSlices):
            rows = tf.cast(gradient.indices, tf.int64)
            sparse[str(number)] = [gradient.values, rows]
        elif gradient is not None:
            dense[str(number)] = gradient
    return {"dense": dense, "sparse": sparse}
