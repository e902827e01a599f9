"""Adapts any Keras optimizer so that it keeps tasks apart."""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.training.optimizers.exact_sparse import (
    ExactSparseMixin,
    VariableOptions,
)
from mtl_tf.training.optimizers.sparse_gradients import named_parts


class _Direct(keras.optimizers.Optimizer):
    """Updates without summing over replicas: that has been done."""

    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            self.update_step(gradient, variable, learning_rate)


class _OptimizersOfParts:
    """An optimizer for each part of a variable.

    The parts take turns on one optimizer of the given class. What it knows of a
    part, its count of steps and its slots of any shape, is put into its
    variables before an update and kept for each part afterwards.

    Args:
        optimizer: the optimizer of all variables, which holds what is kept.
        variable: the variable, whose rows are divided into equal parts.
        parts: number of parts.
        make: makes an optimizer of the given class with the same options.
    """

    def __init__(
        self,
        optimizer: keras.optimizers.Optimizer,
        variable: keras.Variable,
        parts: int,
        make: Callable[[], keras.optimizers.Optimizer],
    ):
        rows, *rest = variable.shape
        self.parts, self._size = parts, rows // parts
        self._part = keras.Variable(
            tf.zeros([self._size, *rest]), dtype=variable.dtype, name="part"
        )
        self._optimizer = make()
        self._optimizer.build([self._part])
        rate = getattr(self._optimizer, "_learning_rate", None)
        self._state = [v for v in self._optimizer.variables if v is not rate]
        self._kept = [
            optimizer.add_variable(
                [parts, *state.shape],
                initializer=functools.partial(_repeated, state),
                dtype=state.dtype,
                name=f"part_{state.name}",
            )
            for state in self._state
        ]

    def update(
        self,
        gradient: tf.Tensor,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
        decay: float,
        named: tf.Tensor,
        compiled: bool,
    ) -> None:
        """Updates some parts.

        Args:
            gradient: of the whole variable.
            variable: the variable, or its copy on one replica.
            learning_rate: a scalar.
            decay: factor of the decoupled weight decay.
            named: bool `[parts]`: whether a part changes.
            compiled: whether XLA compiles this. It lacks loops of unknown
                length, so the other parts take their turns, too.
        """
        numbers = tf.range(self.parts)
        if not compiled:
            numbers = tf.boolean_mask(numbers, named)
        part, optimizer = self._part.value, self._optimizer
        gradients = tf.reshape(gradient, [self.parts, *self._part.shape])
        pairs = [(s.value, k.value) for s, k in zip(self._state, self._kept)]

        def update_one(turn):
            number = numbers[turn]
            rows = number * self._size + tf.range(self._size)
            old = tf.gather(variable, rows)
            part.assign(old)
            olds = [tf.gather(kept, number) for _, kept in pairs]
            for (state, _), value in zip(pairs, olds):
                state.assign(value)
            if decay:
                rate = tf.cast(learning_rate, part.dtype)
                part.assign_sub(rate * decay * part)
            optimizer._backend_update_step(
                [tf.gather(gradients, number)], [self._part], learning_rate
            )
            optimizer.iterations.assign_add(1)
            changes = tf.gather(named, number)
            new = tf.where(changes, part, old)
            variable.scatter_update(tf.IndexedSlices(new, rows))
            for (state, kept), value in zip(pairs, olds):
                new = tf.where(changes, state, value)[None]
                kept.scatter_update(tf.IndexedSlices(new, number[None]))
            return (turn + 1,)

        tf.while_loop(
            lambda turn: turn < tf.size(numbers),
            update_one,
            (0,),
            parallel_iterations=1,
        )


def _repeated(state: keras.Variable, shape: Any, dtype: str) -> tf.Tensor:
    """An initializer: the same state for each part."""
    return tf.broadcast_to(tf.cast(state.value, dtype), shape)


class _TasksApart(ExactSparseMixin):
    """Gives each part of a variable an optimizer of its own.

    With `lazy` word vectors a step updates thousands of parts, too many for
    turns. There it updates all rows and puts back those that the step does not
    concern. This takes as long as the dense update; the step count for a bias
    correction is that of all rows.

    Attributes:
        make_alone: makes an optimizer of the adapted class with these options.
    """

    make_alone: Callable[[], keras.optimizers.Optimizer]
    _parts: Mapping[int, _OptimizersOfParts] = MappingProxyType({})

    def build(self, var_list: list[keras.Variable]) -> None:
        """Makes the slots, and those of the parts."""
        super().build(var_list)
        self._parts = {
            index: _OptimizersOfParts(
                self, variable, option.parts, self.make_alone
            )
            for index, (variable, option) in enumerate(
                zip(var_list, self.options)
            )
            if _is_divided(option)
        }

    def needs_slots(self, option: VariableOptions) -> bool:
        """See `ExactSparseMixin.needs_slots`."""
        return super().needs_slots(option) and not _is_divided(option)

    def _apply_weight_decay(self, variables: list) -> None:
        """Disables Keras's hook, which would also decay other tasks' rows."""

    def _decay_of(self, variable: tf.Variable) -> float:
        """The factor of the decoupled weight decay of a variable."""
        has_decay = self.weight_decay and self._use_weight_decay(variable)
        return self.weight_decay if has_decay else 0.0

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`; also decays what it updates."""
        decay = self._decay_of(variable)
        if index in self._parts:
            own = self._parts[index]
            named = tf.fill([own.parts], True)
            own.update(
                gradient, variable, learning_rate, decay, named, self.compiled
            )
            return
        if decay:
            rate = tf.cast(learning_rate, variable.dtype)
            variable.assign_sub(rate * decay * variable)
        super().update_dense(gradient, variable, learning_rate, index)

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        self.update_named_parts(slices, variable, learning_rate, index)

    def update_named_parts(self, slices, variable, learning_rate, index):
        """See `ExactSparseMixin.update_named_parts`."""
        if index not in self._parts:
            super().update_named_parts(slices, variable, learning_rate, index)
            return
        own = self._parts[index]
        gradient, named = named_parts(slices, variable.shape, own.parts)
        decay = self._decay_of(variable)
        own.update(
            gradient, variable, learning_rate, decay, named, self.compiled
        )


def _is_divided(option: VariableOptions) -> bool:
    return option.parts > 0 and not option.lazy and not option.novograd


def adapted(
    cls: type[keras.optimizers.Optimizer], **options: Any
) -> keras.optimizers.Optimizer:
    """Makes an optimizer; one without `ExactSparseMixin` keeps tasks apart.

    Args:
        cls: a class of Keras or of the user.
        **options: the constructor's arguments.
    """
    if issubclass(cls, ExactSparseMixin):
        return cls(**options)
    optimizer = type(cls.__name__, (_TasksApart, cls), {})(**options)
    alone = type(cls.__name__, (cls, _Direct), {})
    optimizer.make_alone = functools.partial(alone, **options)
    return optimizer
