"""Keras optimizers whose sparse gradients give the dense update.

An embedding's gradient has one slice per occurrence of a word. Keras's own
optimizers square every slice separately and never sum repeats. When a text
repeats a word, Adagrad and Adam therefore differ from the dense update.
`ExactSparseMixin` sums the repeats first, after the reduction over replicas.

It also adds what multi-task training needs: coupled L2 for the weights that a
step uses, separate learning rates for some variables, and slices that belong to
one task each. A step of other tasks leaves a slice, its moments and its step
count unchanged, as in Algorithm 1 of Sun (2019).
"""

from collections.abc import Mapping
from types import MappingProxyType

import keras
import tensorflow as tf

from mtl_tf.training.averaging import move_averages
from mtl_tf.training.novograd import NovoGrad
from mtl_tf.training.sparse_gradients import (
    clip_by_global_norm,
    sum_repeats,
    whole_slices,
)


class ExactSparseMixin:
    """Sums repeated rows, then updates whole variables, slices or rows.

    Attributes set by `configure`:
        slices: per variable, the number of equal parts that its rows are
            divided into. A step updates only the parts that the gradient names,
            as if each were a variable. 0 updates the whole variable at every
            step.
        l2: factor of the coupled L2 penalty per variable. It is added to the
            gradient; for a sparse gradient, only to its rows.
        rate_factors: factor on the learning rate per variable.
        clip_norm: maximum norm of the whole gradient, 0 for no limit.
        compiled: whether XLA compiles the update. It must then avoid operations
            that XLA lacks.
        ema_momentum: decay of the averages of the variables over the steps.
            They exist if `use_ema`, as in Keras.
        novograd: by the index of a variable, what updates it in place of this
            optimizer.
    """

    slices: list[int] | None = None
    compiled = False
    clip_norm = 0.0
    l2: list[float] | None = None
    rate_factors: list[float] | None = None
    novograd: Mapping[int, NovoGrad] = MappingProxyType({})
    _without_slots: frozenset[int] = frozenset()

    def configure(
        self,
        variables: list[keras.Variable],
        l2: list[float],
        rate_factors: list[float],
        slices: list[int] | None = None,
        clip_norm: float = 0.0,
        compiled: bool = False,
        average: float = 0.0,
        novograd: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        """Builds the slots for `variables` and sets the options of each.

        Args:
            variables: the trained variables.
            l2, rate_factors, slices, clip_norm, compiled: see the class.
            average: `ema_momentum`; 0 for no averages.
            novograd: by the index of a variable that NovoGrad updates, the
                number of its parts.
        """
        slices = slices or [0] * len(variables)
        self.slices = [
            0 if n in novograd else parts for n, parts in enumerate(slices)
        ]
        self.use_ema, self.ema_momentum = average > 0, average
        self._without_slots = frozenset(id(variables[n]) for n in novograd)
        self.build(variables)
        self.novograd = {n: NovoGrad(self, k) for n, k in novograd.items()}
        self.l2, self.rate_factors = l2, rate_factors
        self.clip_norm = clip_norm
        self.compiled = compiled

    def add_variable_from_reference(
        self, reference_variable, name=None, initializer="zeros"
    ):
        """Makes a slot; a small one for a variable that never uses it."""
        if name == "average" or id(reference_variable) not in (
            self._without_slots
        ):
            return super().add_variable_from_reference(
                reference_variable, name=name, initializer=initializer
            )
        return self.add_variable([1], initializer=initializer, name=name)

    def averages(self) -> list[tuple[keras.Variable, keras.Variable]]:
        """Each variable and its average over the steps; [] without averages."""
        if not self.use_ema:
            return []
        averages = self._model_variables_moving_average
        return list(zip(self._trainable_variables, averages, strict=True))

    def _update_model_variables_moving_average(self, variables: list) -> None:
        """Keras's hook after a step."""
        averages = self._model_variables_moving_average
        move_averages(variables, averages, self.iterations, self.ema_momentum)

    def _all_reduce_sum_gradients(self, grads_and_vars: list) -> list:
        """Keras's hook between the replicas' gradients and `update_step`."""
        reduced = super()._all_reduce_sum_gradients(grads_and_vars)
        gradients, variables = zip(*reduced)
        gradients = [
            sum_repeats(g) if isinstance(g, tf.IndexedSlices) else g
            for g in gradients
        ]
        if self.clip_norm:
            gradients = clip_by_global_norm(gradients, self.clip_norm)
        return list(zip(gradients, variables))

    def update_step(
        self,
        gradient: tf.Tensor | tf.IndexedSlices,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
    ) -> None:
        """Updates one variable from a gradient without repeated rows."""
        index = self._get_variable_index(variable)
        if self.rate_factors and self.rate_factors[index] != 1.0:
            learning_rate = learning_rate * self.rate_factors[index]
        decay = self.l2[index] if self.l2 else 0.0
        if not isinstance(gradient, tf.IndexedSlices):
            if decay:
                gradient = gradient + decay * variable
            if index in self.novograd:
                self.novograd[index].update(gradient, variable, learning_rate)
                return
            self.update_dense(gradient, variable, learning_rate, index)
            return
        slices = gradient
        if decay:
            used = tf.gather(variable, slices.indices)
            slices = tf.IndexedSlices(
                slices.values + decay * used, slices.indices, gradient.shape
            )
        if index in self.novograd:
            self.novograd[index].update(slices, variable, learning_rate)
            return
        parts = self.slices[index] if self.slices else 0
        if parts > 1 and not self.rows_suffice():
            slices = whole_slices(slices, variable.shape[0] // parts)
        if parts > 1 or self.rows_suffice():
            self.update_rows(slices, variable, learning_rate, index)
        else:
            dense = tf.scatter_nd(
                slices.indices[:, None],
                slices.values,
                tf.cast(tf.shape(variable), slices.indices.dtype),
            )
            self.update_dense(dense, variable, learning_rate, index)

    def update_dense(
        self,
        gradient: tf.Tensor,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
        index: int,
    ) -> None:
        """Updates a whole variable."""
        super().update_step(gradient, variable, learning_rate)

    def rows_suffice(self) -> bool:
        """Whether a dense update leaves rows without a gradient unchanged."""
        return False

    def update_rows(
        self,
        slices: tf.IndexedSlices,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
        index: int,
    ) -> None:
        """Updates the rows that `slices` names, each once."""
        raise NotImplementedError


def moved(slot, rows, decay, towards):
    """Moves rows, or all, of an averaging slot; returns their new values."""
    if rows is None:
        new = decay * slot.value + (1.0 - decay) * towards
        slot.value.assign(new)
        return new
    new = decay * tf.gather(slot.value, rows) + (1.0 - decay) * towards
    slot.value.scatter_update(tf.IndexedSlices(new, rows))
    return new
