"""Adam and AdamW that count the updates of each slice."""

import keras
import tensorflow as tf

from mtl_tf.training.optimizers.exact_sparse import ExactSparseMixin, moved


@keras.saving.register_keras_serializable(package="mtl_tf")
class Adam(ExactSparseMixin, keras.optimizers.Adam):
    """Adam (Kingma and Ba 2015).

    Bias correction uses the number of updates that the moments really had. For
    slices this is a count per slice, otherwise the number of steps.
    """

    def build(self, var_list: list[keras.Variable]) -> None:
        """Makes the moments, and the counts of slices."""
        super().build(var_list)
        counted = [
            index
            for index, option in enumerate(self.options)
            if option.parts and not option.novograd
        ]
        self._counts = [
            self.add_variable(
                [self.options[index].parts], initializer="zeros", name="count"
            )
            for index in counted
        ]
        self._places = {index: n for n, index in enumerate(counted)}

    def slots_of(self, index: int) -> list[keras.Variable]:
        """See `ExactSparseMixin.slots_of`; also the counts of its parts."""
        place = self._places.get(index)
        counts = [] if place is None else [self._counts[place]]
        return [*super().slots_of(index), *counts]

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`."""
        if index not in self._places:
            self._update_whole(gradient, variable, learning_rate, index)
            return
        # A variable of one task, or all slices updated at once.
        count = self._counts[self._places[index]].value
        steps = count.assign_add(tf.ones_like(count))
        per_row = tf.repeat(steps, variable.shape[0] // count.shape[0])
        self._update(gradient, variable, learning_rate, index, None, per_row)

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rows = slices.indices
        if index not in self._places:
            step = tf.cast(self.iterations + 1, variable.dtype)
            steps = tf.fill(tf.shape(rows), step)
        else:
            count = self._counts[self._places[index]].value
            owners = rows // (variable.shape[0] // count.shape[0])
            different, places = tf.unique(owners)
            ones = tf.ones_like(different, count.dtype)
            count.scatter_add(tf.IndexedSlices(ones, different))
            steps = tf.gather(tf.gather(count, different), places)
        self._update(slices.values, variable, learning_rate, index, rows, steps)

    def _betas(self, dtype: tf.DType) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.cast(self.beta_1, dtype), tf.cast(self.beta_2, dtype)

    def _update_whole(self, gradient, variable, learning_rate, index):
        """Updates a whole variable, counting all training steps.

        This is Keras's update in one pass. For large tables, Keras's own would
        take longer than computing the gradients.
        """
        dtype = variable.dtype
        steps = tf.cast(self.iterations + 1, dtype)
        beta_1, beta_2 = self._betas(dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(beta_1, steps),
            beta2_power=tf.pow(beta_2, steps),
            lr=tf.cast(learning_rate, dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.cast(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )

    def _update(self, gradient, variable, learning_rate, index, rows, steps):
        """Updates rows (all if None) with their own step counts."""
        dtype = variable.dtype
        # As tensors, so that 1 - beta is rounded as in `_update_whole`.
        beta_1, beta_2 = self._betas(dtype)
        mean = moved(self._momentums[index], rows, beta_1, gradient)
        square = moved(
            self._velocities[index], rows, beta_2, tf.square(gradient)
        )
        steps = tf.reshape(steps, [-1] + [1] * (gradient.shape.rank - 1))
        rate = (
            tf.cast(learning_rate, dtype)
            * tf.sqrt(1.0 - tf.pow(beta_2, steps))
            / (1.0 - tf.pow(beta_1, steps))
        )
        change = rate * mean / (tf.sqrt(square) + self.epsilon)
        if rows is None:
            variable.assign_sub(change)
        else:
            variable.scatter_sub(tf.IndexedSlices(change, rows))


@keras.saving.register_keras_serializable(package="mtl_tf")
class AdamW(Adam):
    """AdamW: Adam with decoupled decay (Loshchilov and Hutter 2019).

    Before Adam's update, `w -= learning_rate * weight_decay * w` is applied to
    the weights that the update changes: a whole variable or slices of it.
    """

    def _apply_weight_decay(self, variables: list) -> None:
        """Disables Keras's hook, which would also decay other tasks' slices."""

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`."""
        rate = tf.cast(learning_rate, variable.dtype)
        variable.assign_sub(rate * self.weight_decay * variable)
        super().update_dense(gradient, variable, learning_rate, index)

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rate = tf.cast(learning_rate, variable.dtype)
        rows = slices.indices
        decayed = rate * self.weight_decay * tf.gather(variable, rows)
        variable.scatter_sub(tf.IndexedSlices(decayed, rows))
        super().update_rows(slices, variable, learning_rate, index)
