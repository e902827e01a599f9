"""Adapts any Keras optimizer so that it keeps tasks apart."""

import keras
import tensorflow as tf

from mtl_tf.training.optimizers.exact_sparse import ExactSparseMixin


class _RowsPutBack(ExactSparseMixin):
    """Updates all rows, then restores those that the step does not concern.

    This works with any optimizer but takes as long as the dense update. State
    that an optimizer keeps for all variables together, such as the step count
    for bias correction, still advances for all rows. So do slots whose shape
    differs from their variable, such as those of `keras.optimizers.Adafactor`.
    """

    def add_variable_from_reference(self, reference_variable, *args, **kwargs):
        """Makes a slot and remembers which variable it belongs to."""
        slot = super().add_variable_from_reference(
            reference_variable, *args, **kwargs
        )
        if not hasattr(self, "_slots_of"):
            self._slots_of = []
        self._slots_of.append((id(reference_variable), slot))
        return slot

    def _apply_weight_decay(self, variables: list) -> None:
        """Disables Keras's hook, which would also decay other tasks' rows."""

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`; also decays what it updates."""
        if self.weight_decay and self._use_weight_decay(variable):
            rate = tf.cast(learning_rate, variable.dtype)
            variable.assign_sub(rate * self.weight_decay * variable)
        super().update_dense(gradient, variable, learning_rate, index)

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        reference = self._trainable_variables[index]
        moved = [
            slot
            for owner, slot in getattr(self, "_slots_of", ())
            if owner == id(reference) and slot.shape == reference.shape
        ]
        previous = [tf.identity(v) for v in (variable, *moved)]
        rows, indices = tf.shape(variable)[:1], slices.indices[:, None]
        gradient = tf.scatter_nd(
            indices, slices.values, tf.cast(tf.shape(variable), indices.dtype)
        )
        self.update_dense(gradient, variable, learning_rate, index)
        ones = tf.ones_like(slices.indices, tf.int32)
        is_used = tf.scatter_nd(indices, ones, tf.cast(rows, indices.dtype)) > 0
        is_used = tf.reshape(is_used, [-1] + [1] * (variable.shape.rank - 1))
        for changed, old in zip((variable, *moved), previous):
            changed.assign(
                tf.where(is_used, tf.convert_to_tensor(changed), old)
            )


def of_class(
    cls: type[keras.optimizers.Optimizer],
) -> type[keras.optimizers.Optimizer]:
    """Adds `ExactSparseMixin` to an optimizer class that lacks it.

    Args:
        cls: a class of Keras or of the user.
    """
    if issubclass(cls, ExactSparseMixin):
        return cls
    return type(cls.__name__, (_RowsPutBack, cls), {})
