"""Stacked gradients of several tasks, dense and sparse.

Each piece of a step has one stack with the gradients of its groups. If a piece
does not use a variable, its stack does not contain it, and the gradient of its
groups is 0.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from mtl_tf.core.replicas import summed
from mtl_tf.training.pieces import joined


class Stacked(NamedTuple):
    """The gradients of G groups, by the number of the variable.

    Attributes:
        groups: int32 scalar, G.
        dense: dense gradients, each float [G, ...].
        values: values of sparse gradients, each float [G, N, ...].
        rows: rows of these values, each int64 [G, N], in any order, with
            repeats.
    """

    groups: tf.Tensor
    dense: dict[int, tf.Tensor]
    values: dict[int, tf.Tensor]
    rows: dict[int, tf.Tensor]

    @property
    def numbers(self) -> set[int]:
        """The numbers of the variables that have a gradient."""
        return {*self.dense, *self.values}


def products(
    stacks: Sequence[Stacked],
    numbers: set[int],
    variables: Sequence[keras.Variable],
) -> tf.Tensor:
    """The inner products of the groups' gradients over the global batch.

    The gradients are summed over the replicas before they are multiplied.

    Args:
        stacks: one per piece, with G groups in total, within a replica.
        numbers: numbers of the variables to include.
        variables: all variables.

    Returns:
        float32 [G, G].
    """
    groups = functools.reduce(tf.add, [stack.groups for stack in stacks])
    dense = _in_order(numbers, (stack.dense for stack in stacks))
    sparse = _in_order(numbers, (stack.values for stack in stacks))
    sparse = [number for number in sparse if number not in dense]
    sizes = [int(variables[number].shape[0]) for number in sparse]
    reduced = summed(
        [
            *(joined(_all_dense(stacks, n, variables[n])) for n in dense),
            *(_keyed(stacks, *pair) for pair in zip(sparse, sizes)),
        ]
    )
    total = tf.zeros([groups, groups])
    for gradient in reduced[: len(dense)]:
        total += _gram(gradient, groups)
    for gradient, size in zip(reduced[len(dense) :], sizes):
        total += _gram(_by_group(gradient, size, groups), groups)
    return total


def combined(
    stacks: Sequence[Stacked],
    number: int,
    variable: keras.Variable,
    weights: tf.Tensor,
) -> tf.Tensor | tf.IndexedSlices | None:
    """The weighted sum of the groups' gradients of one variable.

    Args:
        stacks: one per piece, with G groups in total.
        number: number of the variable.
        variable: the variable.
        weights: float [G].
    """
    parts, first = [], 0
    for stack in stacks:
        stack_weights = weights
        if len(stacks) > 1:
            stack_weights = weights[first : first + stack.groups]
            first += stack.groups
        parts.append(_combined(stack, number, variable, stack_weights))
    return functools.reduce(added, parts)


def added(first: Any, second: Any) -> Any:
    """The sum of two gradients, either of which may be None or sparse."""
    if first is None or second is None:
        return second if first is None else first
    sparse = [isinstance(g, tf.IndexedSlices) for g in (first, second)]
    if not all(sparse):
        return tf.convert_to_tensor(first) + tf.convert_to_tensor(second)
    rows = [tf.cast(g.indices, tf.int64) for g in (first, second)]
    return tf.IndexedSlices(
        tf.concat([first.values, second.values], 0),
        tf.concat(rows, 0),
        first.dense_shape,
    )


def _in_order(numbers: set[int], parts: Iterable[dict[int, Any]]) -> list[int]:
    """Those of `numbers` that occur in a part, in the order of the parts."""
    every = dict.fromkeys(number for part in parts for number in part)
    return [number for number in every if number in numbers]


def _all_dense(
    stacks: Sequence[Stacked], number: int, variable: keras.Variable
) -> list[tf.Tensor]:
    """A variable's gradients as dense tensors [G, ...], one per stack."""
    gradients = []
    for stack in stacks:
        if number in stack.dense:
            gradients.append(stack.dense[number])
            continue
        shape = tf.stack([stack.groups, *variable.shape])
        dense = tf.zeros(shape)
        if number in stack.values:
            keyed = _keyed([stack], number, int(variable.shape[0]))
            dense = tf.reshape(tf.convert_to_tensor(keyed), shape)
        gradients.append(dense)
    return gradients


def _keyed(
    stacks: Sequence[Stacked], number: int, size: int
) -> tf.IndexedSlices:
    """Sparse gradients of G groups as one of a [G * size, ...] matrix."""
    values, keys, first = [], [], tf.constant(0, tf.int64)
    for stack in stacks:
        groups = tf.cast(stack.groups, tf.int64)
        if number in stack.values:
            stacked = stack.values[number]
            values.append(tf.reshape(stacked, [-1, *stacked.shape[2:]]))
            group = first + tf.range(groups, dtype=tf.int64)[:, None]
            rows = stack.rows[number] + size * group
            keys.append(tf.reshape(rows, [-1]))
        first += groups
    inner = values[0].shape[1:].as_list()
    shape = tf.concat([[first * size], tf.constant(inner, tf.int64)], 0)
    return tf.IndexedSlices(joined(values), joined(keys), shape)


def _by_group(
    keyed: tf.IndexedSlices, size: int, groups: tf.Tensor
) -> tf.Tensor:
    """The result of `_keyed` without repeats: [G, rows in use, ...]."""
    used, place = tf.unique(keyed.indices % size)
    count = tf.size(used, tf.int64)
    group = keyed.indices // size
    place = group * count + tf.cast(place, tf.int64)
    total = tf.cast(groups, tf.int64) * count
    return tf.math.unsorted_segment_sum(keyed.values, place, total)


def _gram(gradients: tf.Tensor, groups: tf.Tensor) -> tf.Tensor:
    flat = tf.cast(tf.reshape(gradients, [groups, -1]), tf.float32)
    return tf.matmul(flat, flat, transpose_b=True)


def _combined(
    stack: Stacked, number: int, variable: keras.Variable, weights: tf.Tensor
) -> tf.Tensor | tf.IndexedSlices | None:
    """`combined` for a single stack."""
    if number in stack.dense:
        return tf.tensordot(weights, stack.dense[number], 1)
    if number not in stack.values:
        return None
    values, rows = stack.values[number], stack.rows[number]
    shape = tf.concat([[-1], tf.ones([tf.rank(values) - 1], tf.int32)], 0)
    values *= tf.reshape(weights, shape)
    return tf.IndexedSlices(
        tf.reshape(values, [-1, *values.shape[2:]]),
        tf.reshape(rows, [-1]),
        tf.constant(list(variable.shape), tf.int64),
    )
