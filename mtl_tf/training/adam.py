"""Adam and AdamW that count the updates of slices."""

import keras
import tensorflow as tf

from mtl_tf.training.exact_sparse import ExactSparseMixin, moved


@keras.saving.register_keras_serializable(package="mtl_tf")
class Adam(ExactSparseMixin, keras.optimizers.Adam):
    """Adam (Kingma and Ba 2015).

    The bias of moments that start from zeros is corrected by the number of
    their own updates: of slices by a count for each, else by the steps.
    """

    def build(self, var_list: list[keras.Variable]) -> None:
        """Makes the moments, and the counts of slices."""
        super().build(var_list)
        self._counts = [
            self.add_variable([parts], initializer="zeros", name="count")
            for parts in self.slices or ()
            if parts
        ]
        counted = [n for n, parts in enumerate(self.slices or ()) if parts]
        self._places = {index: n for n, index in enumerate(counted)}

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`."""
        if index not in self._places:
            self._update_whole(gradient, variable, learning_rate, index)
            return
        # A variable of one task's own, or all of its slices at once.
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
        """Updates all of a variable by the steps of the training.

        It is Keras's update in one pass: that of large tables would take
        longer than their gradients.
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
        """Updates rows, or all where that is None, with their own steps."""
        dtype = variable.dtype
        # As tensors: 1 - beta is rounded as in `_update_whole`.
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
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019).

    `w -= learning_rate * weight_decay * w` before Adam's update, of what that
    updates: all of a variable, or slices.
    """

    def _apply_weight_decay(self, variables: list) -> None:
        """Keras's hook; it would also decay the slices of other tasks."""

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
