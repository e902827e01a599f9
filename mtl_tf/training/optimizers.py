"""Keras optimizers whose sparse gradients give the dense update.

An embedding's gradient has one slice per occurrence of a word. Keras's own
optimizers square every slice by itself and never sum the repeats, so that
Adagrad and Adam leave the path of the dense gradient as soon as a text repeats
a word. The classes here sum the repeats first, after the reduction over
replicas. On top of that they offer what multi-task training asks for: coupled
L2 on what a step uses, a learning rate of its own for some variables, and
slices that belong to one task each: a step of other tasks leaves a slice, its
moments and its step count alone, as Algorithm 1 of Sun (2019) has it.
"""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.names import look_up
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


def _moved(slot, rows, decay, towards):
    """Moves rows, or all, of an averaging slot; returns their new values."""
    if rows is None:
        new = decay * slot.value + (1.0 - decay) * towards
        slot.value.assign(new)
        return new
    new = decay * tf.gather(slot.value, rows) + (1.0 - decay) * towards
    slot.value.scatter_update(tf.IndexedSlices(new, rows))
    return new


@keras.saving.register_keras_serializable(package="mtl_tf")
class SGD(ExactSparseMixin, keras.optimizers.SGD):
    """Stochastic gradient descent; with momentum, slices move densely."""

    def rows_suffice(self) -> bool:
        """Without momentum a zero gradient moves nothing."""
        return not self.momentum

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rate = tf.cast(learning_rate, variable.dtype)
        step = -rate * slices.values
        if self.momentum:
            slot = self.momentums[index].value
            momentum = self.momentum * tf.gather(slot, slices.indices) + step
            slot.scatter_update(tf.IndexedSlices(momentum, slices.indices))
            step = (
                self.momentum * momentum + step if self.nesterov else momentum
            )
        variable.scatter_add(tf.IndexedSlices(step, slices.indices))


@keras.saving.register_keras_serializable(package="mtl_tf")
class Adagrad(ExactSparseMixin, keras.optimizers.Adagrad):
    """Adagrad (Duchi et al. 2011): rows without gradient never move.

    Keras divides by `sqrt(accumulator + epsilon)`. Here the accumulators start
    at their initial value plus epsilon, which gives the same quotient and lets
    TensorFlow's fused update do all of it in one pass.
    """

    def build(self, var_list: list[keras.Variable]) -> None:
        """Makes the accumulators."""
        given = self.initial_accumulator_value
        self.initial_accumulator_value = given + self.epsilon
        super().build(var_list)
        self.initial_accumulator_value = given

    def rows_suffice(self) -> bool:
        """A zero gradient leaves the accumulator and the row."""
        return True

    def update_dense(self, gradient, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_dense`."""
        tf.raw_ops.ResourceApplyAdagrad(
            var=variable.handle,
            accum=self._accumulators[index].value.handle,
            lr=tf.cast(learning_rate, variable.dtype),
            grad=tf.cast(gradient, variable.dtype),
        )

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rate = tf.cast(learning_rate, variable.dtype)
        slot, rows = self._accumulators[index].value, slices.indices
        if self.compiled:
            squares = tf.gather(slot, rows) + tf.square(slices.values)
            slot.scatter_update(tf.IndexedSlices(squares, rows))
            step = rate * slices.values / tf.sqrt(squares)
            variable.scatter_sub(tf.IndexedSlices(step, rows))
            return
        tf.raw_ops.ResourceSparseApplyAdagrad(
            var=variable.handle,
            accum=slot.handle,
            lr=rate,
            grad=slices.values,
            indices=rows,
        )


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
        mean = _moved(self._momentums[index], rows, beta_1, gradient)
        square = _moved(
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


@keras.saving.register_keras_serializable(package="mtl_tf")
class Adadelta(ExactSparseMixin, keras.optimizers.Adadelta):
    """Adadelta (Zeiler 2012); its learning rate of the paper is 1.0."""

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rows, gradient = slices.indices, slices.values
        square = _moved(
            self._accumulated_grads[index],
            rows,
            self.rho,
            tf.square(gradient),
        )
        slot = self._accumulated_delta_vars[index]
        past = tf.gather(slot.value, rows)
        change = (
            -tf.sqrt(past + self.epsilon)
            * gradient
            / tf.sqrt(square + self.epsilon)
        )
        _moved(slot, rows, self.rho, tf.square(change))
        rate = tf.cast(learning_rate, variable.dtype)
        variable.scatter_add(tf.IndexedSlices(rate * change, rows))


OPTIMIZERS = {
    "sgd": SGD,
    "adagrad": Adagrad,
    "adam": Adam,
    "adamw": AdamW,
    "adadelta": Adadelta,
}
_OPTIONS = {
    "sgd": {"momentum": 0.0, "nesterov": False},
    "adagrad": {"initial_accumulator_value": 0.1, "epsilon": 1e-7},
    "adam": {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7},
    "adamw": {
        "beta_1": 0.9,
        "beta_2": 0.999,
        "epsilon": 1e-7,
        "weight_decay": 0.01,
    },
    "adadelta": {"rho": 0.95, "epsilon": 1e-7},
}


def make_optimizer(
    config: dict,
    learning_rate: float | keras.optimizers.schedules.LearningRateSchedule,
) -> keras.optimizers.Optimizer:
    """The optimizer that `training.optimizer` names.

    Args:
        config: `name` and the optimizer's own options under `options`.
        learning_rate: a number or a schedule of the step.

    Raises:
        ConfigError: an unknown optimizer or option, or a value out of range.
    """
    cls = look_up(config["name"], OPTIMIZERS, "optimizer")
    known = _OPTIONS[config["name"]]
    options = dict(config.get("options") or {})
    for name, value in options.items():
        look_up(name, known, f"option of the optimizer {config['name']}")
        if not isinstance(value, bool):
            checks.not_negative(f"training.optimizer.options.{name}", value)
    return cls(learning_rate=learning_rate, **{**known, **options})
