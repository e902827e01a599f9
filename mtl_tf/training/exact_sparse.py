"""Keras optimizers whose sparse gradients give the dense update.

An embedding's gradient has one slice per occurrence of a word. Keras's own
optimizers square every slice by itself and never sum the repeats, so that
Adagrad and Adam leave the path of the dense gradient as soon as a text repeats
a word. `ExactSparseMixin` sums the repeats first, after the reduction over
replicas. On top of that it offers what multi-task training asks for: coupled
L2 on what a step uses, a learning rate of its own for some variables, and
slices that belong to one task each: a step of other tasks leaves a slice, its
moments and its step count alone, as Algorithm 1 of Sun (2019) has it.
"""

import keras
import tensorflow as tf

from mtl_tf.training.averaging import move_averages
from mtl_tf.training.sparse_gradients import (
    clip_by_global_norm,
    sum_repeats,
    whole_slices,
)


class ExactSparseMixin:
    """Sums repeated rows, then updates whole variables, slices or rows.

    Attributes set by `configure`:
        slices: of how many equal parts of its rows a variable consists, of
            which a step updates those that its gradient names, as if each
            were a variable; 0 where all of it is updated at every step.
        l2: factor of the coupled L2 penalty per variable, added to the
            gradient: of rows with a gradient where the gradient is sparse.
        rate_factors: factor on the learning rate per variable.
        clip_norm: greatest norm of the whole gradient, 0 for no limit.
        compiled: XLA compiles the update, so that it must do without
            operations that XLA lacks.
        ema_momentum: decay of the averages of the variables over the steps,
            which are there if `use_ema`, as Keras has it.
    """

    slices: list[int] | None = None
    compiled = False
    clip_norm = 0.0
    l2: list[float] | None = None
    rate_factors: list[float] | None = None

    def configure(
        self,
        variables: list[keras.Variable],
        l2: list[float],
        rate_factors: list[float],
        slices: list[int] | None = None,
        clip_norm: float = 0.0,
        compiled: bool = False,
        average: float = 0.0,
    ) -> None:
        """Builds the slots for `variables` and sets what belongs to each."""
        self.slices = slices or [0] * len(variables)
        self.use_ema, self.ema_momentum = average > 0, average
        self.build(variables)
        self.l2, self.rate_factors = l2, rate_factors
        self.clip_norm = clip_norm
        self.compiled = compiled

    def averages(self) -> list[tuple[keras.Variable, keras.Variable]]:
        """Each variable with its average over the steps; [] without them."""
        if not self.use_ema:
            return []
        averages = self._model_variables_moving_average
        return list(zip(self._trainable_variables, averages, strict=True))

    def _update_model_variables_moving_average(self, variables: list) -> None:
        """Keras's hook behind a step."""
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
        """Updates one variable from its gradient, summed and unrepeated."""
        index = self._get_variable_index(variable)
        if self.rate_factors and self.rate_factors[index] != 1.0:
            learning_rate = learning_rate * self.rate_factors[index]
        decay = self.l2[index] if self.l2 else 0.0
        if not isinstance(gradient, tf.IndexedSlices):
            if decay:
                gradient = gradient + decay * variable
            self.update_dense(gradient, variable, learning_rate, index)
            return
        slices = gradient
        if decay:
            used = tf.gather(variable, slices.indices)
            slices = tf.IndexedSlices(
                slices.values + decay * used, slices.indices, gradient.shape
            )
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
        """Whether rows without gradient stay as they are in the dense form."""
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
