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

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import keras
import tensorflow as tf

from mtl_tf.training.optimizers.averaging import move_averages
from mtl_tf.training.optimizers.novograd import NovoGrad
from mtl_tf.training.optimizers.sparse_gradients import (
    clip_by_global_norm,
    named_parts,
    sum_repeats,
    whole_slices,
)


@dataclasses.dataclass(frozen=True)
class VariableOptions:
    """How an optimizer updates one variable.

    Attributes:
        l2: factor of the coupled L2 penalty. It is added to the gradient; for
            a sparse gradient, only to its rows.
        rate_factor: factor on the learning rate.
        parts: the number of equal parts that its rows are divided into. A step
            updates only the parts that the gradient names, as if each were a
            variable. 0 updates the whole variable at every step.
        novograd: whether `NovoGrad` updates it, in place of the optimizer.
        lazy: whether the parts are vectors of words, of which a step may update
            thousands.
    """

    l2: float = 0.0
    rate_factor: float = 1.0
    parts: int = 0
    novograd: bool = False
    lazy: bool = False


class _Slots:
    """The slots of each variable.

    It is no dictionary, as checkpoints would look for variables in one.
    """

    def __init__(self):
        self._of: dict[int, list[keras.Variable]] = {}

    def add(self, variable: keras.Variable, slot: keras.Variable) -> None:
        """Notes a slot of a variable."""
        self._of.setdefault(id(variable), []).append(slot)

    def of(self, variable: keras.Variable) -> list[keras.Variable]:
        """The slots of a variable, in the order of their making."""
        return self._of.get(id(variable), [])


class ExactSparseMixin:
    """Sums repeated rows, then updates whole variables, slices or rows.

    Attributes set by `configure`:
        options: those of each variable; () for the defaults of all.
        clip_norm: maximum norm of the whole gradient, 0 for no limit.
        compiled: whether XLA compiles the update. It must then avoid operations
            that XLA lacks.
        ema_momentum: decay of the averages of the variables over the steps.
            They exist if `use_ema`, as in Keras.
    """

    options: Sequence[VariableOptions] = ()
    compiled = False
    clip_norm = 0.0
    _novograd: Mapping[int, NovoGrad] = MappingProxyType({})
    _without_slots: frozenset[int] = frozenset()
    _slots: "_Slots | None" = None

    def configure(
        self,
        variables: Sequence[keras.Variable],
        options: Sequence[VariableOptions] = (),
        *,
        clip_norm: float = 0.0,
        compiled: bool = False,
        average: float = 0.0,
    ) -> None:
        """Builds the slots for `variables` and sets the options of each.

        Args:
            variables: the trained variables.
            options: those of each variable; () for the defaults of all.
            clip_norm, compiled: see the class.
            average: `ema_momentum`; 0 for no averages.
        """
        self.options = tuple(options)
        self.use_ema, self.ema_momentum = average > 0, average
        replaced = {
            n: option.parts
            for n, option in enumerate(self.options)
            if option.novograd
        }
        self._without_slots = frozenset(
            id(variable)
            for variable, option in zip(variables, self.options)
            if not self.needs_slots(option)
        )
        self.build(list(variables))
        self._novograd = {n: NovoGrad(self, k) for n, k in replaced.items()}
        self.clip_norm = clip_norm
        self.compiled = compiled

    def needs_slots(self, option: VariableOptions) -> bool:
        """Whether the optimizer itself updates a variable with this option."""
        return not option.novograd

    def options_of(self, index: int) -> VariableOptions:
        """The options of a variable."""
        return self.options[index] if self.options else VariableOptions()

    def add_variable_from_reference(
        self, reference_variable, name=None, initializer="zeros"
    ):
        """Makes a slot; a small one for a variable that never uses it."""
        if name != "average" and id(reference_variable) in (
            self._without_slots
        ):
            return self.add_variable([1], initializer=initializer, name=name)
        slot = super().add_variable_from_reference(
            reference_variable, name=name, initializer=initializer
        )
        if name != "average":
            self._slots = self._slots or _Slots()
            self._slots.add(reference_variable, slot)
        return slot

    def slots_of(self, index: int) -> list[keras.Variable]:
        """The slots of a variable whose rows are those of its parts."""
        reference = self._trainable_variables[index]
        slots = self._slots.of(reference) if self._slots else []
        return [slot for slot in slots if slot.shape == reference.shape]

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
        options = self.options_of(index)
        if options.rate_factor != 1.0:
            learning_rate = learning_rate * options.rate_factor
        decay = options.l2
        if not isinstance(gradient, tf.IndexedSlices):
            if decay:
                gradient = gradient + decay * variable
            if index in self._novograd:
                self._novograd[index].update(gradient, variable, learning_rate)
                return
            self.update_dense(gradient, variable, learning_rate, index)
            return
        slices = gradient
        if decay:
            used = tf.gather(variable, slices.indices)
            slices = tf.IndexedSlices(
                slices.values + decay * used, slices.indices, gradient.shape
            )
        if index in self._novograd:
            self._novograd[index].update(slices, variable, learning_rate)
            return
        parts = options.parts
        if parts > 1 and self.compiled and not self.rows_suffice():
            self.update_named_parts(slices, variable, learning_rate, index)
            return
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

    def update_named_parts(
        self,
        slices: tf.IndexedSlices,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
        index: int,
    ) -> None:
        """Updates the parts of which `slices` names rows.

        It updates all parts and puts back the others. This takes as long as the
        dense update, but needs no tensors of unknown size, which XLA lacks.
        """
        parts = self.options_of(index).parts
        gradient, named = named_parts(slices, variable.shape, parts)
        changed = [variable, *(slot.value for slot in self.slots_of(index))]
        previous = [tf.identity(value) for value in changed]
        self.update_dense(gradient, variable, learning_rate, index)
        for value, old in zip(changed, previous):
            of_rows = tf.repeat(named, value.shape[0] // named.shape[0])
            shape = [-1] + [1] * (value.shape.rank - 1)
            value.assign(tf.where(tf.reshape(of_rows, shape), value, old))


def moved(slot, rows, decay, towards):
    """Moves rows, or all, of an averaging slot; returns their new values."""
    if rows is None:
        new = decay * slot.value + (1.0 - decay) * towards
        slot.value.assign(new)
        return new
    new = decay * tf.gather(slot.value, rows) + (1.0 - decay) * towards
    slot.value.scatter_update(tf.IndexedSlices(new, rows))
    return new
