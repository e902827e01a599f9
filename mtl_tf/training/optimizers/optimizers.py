"""Optimizers of `training.optimizer`: Keras's; see `exact_sparse`."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.training.optimizers.adam import Adam, AdamW
from mtl_tf.training.optimizers.any_optimizer import adapted
from mtl_tf.training.optimizers.exact_sparse import ExactSparseMixin, moved


@keras.saving.register_keras_serializable(package="mtl_tf")
class SGD(ExactSparseMixin, keras.optimizers.SGD):
    """Stochastic gradient descent; with momentum, slices update densely."""

    def rows_suffice(self) -> bool:
        """Without momentum a zero gradient changes nothing."""
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
    """Adagrad (Duchi et al. 2011): rows without a gradient never change.

    Keras divides by `sqrt(accumulator + epsilon)`. Here epsilon is added to the
    initial accumulators instead. The quotient is the same, and TensorFlow's
    fused update can do everything in one pass.
    """

    def build(self, var_list: list[keras.Variable]) -> None:
        """Makes the accumulators."""
        initial_value = self.initial_accumulator_value
        self.initial_accumulator_value = initial_value + self.epsilon
        super().build(var_list)
        self.initial_accumulator_value = initial_value

    def rows_suffice(self) -> bool:
        """A zero gradient changes neither the accumulator nor the row."""
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
class Adadelta(ExactSparseMixin, keras.optimizers.Adadelta):
    """Adadelta (Zeiler 2012); the paper's learning rate is 1.0."""

    def update_rows(self, slices, variable, learning_rate, index) -> None:
        """See `ExactSparseMixin.update_rows`."""
        rows, gradient = slices.indices, slices.values
        square = moved(
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
        moved(slot, rows, self.rho, tf.square(change))
        rate = tf.cast(learning_rate, variable.dtype)
        variable.scatter_add(tf.IndexedSlices(rate * change, rows))


OPTIMIZERS = {
    "sgd": SGD,
    "adagrad": Adagrad,
    "adam": Adam,
    "adamw": AdamW,
    "adadelta": Adadelta,
}
#: The options of each, with their defaults.
OPTIONS = {
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

# Options of Keras's optimizers that other config fields replace.
_OF_ALL = (
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "loss_scale_factor",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
    "gradient_accumulation_steps",
)


def make_optimizer(
    config: dict,
    learning_rate: float | keras.optimizers.schedules.LearningRateSchedule,
) -> keras.optimizers.Optimizer:
    """Makes the optimizer that `training.optimizer` names.

    Args:
        config: `name` is the optimizer's name, or the path of a user's class or
            of a Keras class such as "keras.optimizers:Lion" (see
            `own_functions.load`). `options` holds the optimizer's options.
        learning_rate: a number, or a schedule that depends on the step.

    Raises:
        ConfigError: an unknown optimizer or option, or a value out of range.
    """
    if own_functions.is_own(config["name"]):
        return _own_optimizer(
            config["name"], config.get("options") or {}, learning_rate
        )
    cls = look_up(config["name"], OPTIMIZERS, "optimizer")
    known = OPTIONS[config["name"]]
    options = dict(config.get("options") or {})
    for name, value in options.items():
        look_up(name, known, f"option of the optimizer {config['name']}")
        if not isinstance(value, bool):
            checks.not_negative(f"training.optimizer.options.{name}", value)
    return cls(learning_rate=learning_rate, **{**known, **options})


def _own_optimizer(
    place: str, options: Mapping[str, Any], learning_rate: Any
) -> keras.optimizers.Optimizer:
    cls = own_functions.load_class(place, keras.optimizers.Optimizer)
    if cls.update_step is keras.optimizers.Optimizer.update_step:
        raise ConfigError(
            f"the optimizer {place} needs a method update_step(gradient, "
            "variable, learning_rate), see keras.optimizers.Optimizer"
        )
    # Other config fields set these, for every optimizer.
    reserved = ("learning_rate", "name", *_OF_ALL)
    known = own_functions.keywords(cls, reserved)
    own_functions.check_options(f"optimizer {place}", options, known)
    try:
        return adapted(cls, learning_rate=learning_rate, **options)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"the optimizer {place} cannot be made: "
            f"{own_functions.complaint(error) or error}"
        )
