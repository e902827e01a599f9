"""Weights of the task losses in the sum that a training step minimises."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, own_functions
from mtl_tf.core.names import look_up
from mtl_tf.training import precision
from mtl_tf.training.balancing import own_loss_weighting


@keras.saving.register_keras_serializable(package="mtl_tf")
class StaticWeights(keras.layers.Layer):
    """Multiplies each task's loss by a constant (lambda_k of the papers).

    This is the base class of all loss weightings. Values that a weighting
    learns are weights of the layer, so checkpoints contain them.

    Args:
        weights: one factor per task, zero or positive.

    Attributes:
        adapts: whether `update` must be called with the norms of the task
            gradients. This needs joint steps.

    Call arguments:
        task: int32 [G], the task of each group.
        loss: float32 [G].

    Returns:
        The weighted losses, float32 [G]. They must be an affine function of the
        losses, because each replica holds only a part of a loss.
    """

    adapts = False

    def __init__(self, weights: Sequence[float], **kwargs):
        super().__init__(**kwargs)
        self.weights_of_tasks = [
            float(checks.not_negative("loss_weight", w)) for w in weights
        ]
        self.built = True

    def call(self, task: tf.Tensor, loss: tf.Tensor) -> tf.Tensor:
        """See the class."""
        return loss * tf.gather(tf.constant(self.weights_of_tasks), task)

    def after_evaluation(self, losses: np.ndarray, seen: np.ndarray) -> None:
        """Hook called after each evaluation; does nothing by default.

        Args:
            losses: float32 [K], each task's mean training loss since the
                previous evaluation.
            seen: bool [K], which tasks were trained since then. The losses of
                the other tasks are 0.
        """

    def values(self) -> list[float]:
        """The current factor of each task's loss."""
        return list(self.weights_of_tasks)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        weights = {"weights": self.weights_of_tasks}
        return {**super().get_config(), **weights}


@keras.saving.register_keras_serializable(package="mtl_tf")
class UncertaintyWeights(StaticWeights):
    """Homoscedastic uncertainty (Kendall, Gal and Cipolla 2018, eq. 10).

    A task's loss L becomes exp(-s) L + s / 2 with s = log sigma^2. Each task
    has one trained s, which starts at 0. The static weights are applied as
    well. For regression tasks the paper also halves exp(-s) L. Without this, s
    becomes larger by log 2 and the resulting factors are the same.
    """

    def __init__(self, weights: Sequence[float], **kwargs):
        super().__init__(weights, **kwargs)
        self.log_variance = self.add_weight(
            name="log_variance",
            shape=(len(self.weights_of_tasks),),
            initializer="zeros",
        )

    def call(self, task: tf.Tensor, loss: tf.Tensor) -> tf.Tensor:
        """See the class."""
        s = tf.gather(self.log_variance.value, task)
        return super().call(task, tf.exp(-s) * loss + s / 2.0)

    def values(self) -> list[float]:
        """The current factor of each task's loss."""
        factors = tf.exp(-self.log_variance.value).numpy()
        return [float(w * f) for w, f in zip(self.weights_of_tasks, factors)]


class AdaptedWeights(StaticWeights):
    """Base of weightings whose factors change during training.

    All factors start at 1. The static weights are applied as well.

    Attributes:
        factors: float32 [K].
    """

    def __init__(self, weights: Sequence[float], **kwargs):
        super().__init__(weights, **kwargs)
        self.factors = self.add_state("factors", "ones")

    def add_state(self, name: str, initializer: str) -> keras.Variable:
        """Adds one number per task, float32 [K], that checkpoints contain."""
        # The optimizer does not train it. All replicas make the same update.
        return self.add_weight(
            name=name,
            shape=(len(self.weights_of_tasks),),
            initializer=initializer,
            trainable=False,
            aggregation="only_first_replica",
        )

    def call(self, task: tf.Tensor, loss: tf.Tensor) -> tf.Tensor:
        """See the class."""
        return super().call(task, loss * tf.gather(self.factors.value, task))

    def values(self) -> list[float]:
        """The current factor of each task's loss."""
        factors = self.factors.numpy()
        return [float(w * f) for w, f in zip(self.weights_of_tasks, factors)]


@keras.saving.register_keras_serializable(package="mtl_tf")
class DynamicWeights(AdaptedWeights):
    """Dynamic weight average (Liu, Johns and Davison 2019, equation 7).

    A task's factor is n softmax(r / T), over the n tasks that were trained. r
    is the task's mean loss in the last period divided by that in the period
    before, so tasks whose losses fall slowly get larger factors. In the paper a
    period is an epoch. Here it is the time between two evaluations, which is
    also an epoch by default. Until two periods are complete, r is 1.

    Args:
        weights: see `StaticWeights`.
        temperature: T. A higher value makes the factors more alike.
    """

    def __init__(
        self, weights: Sequence[float], temperature: float = 2.0, **kwargs
    ):
        super().__init__(weights, **kwargs)
        self.temperature = float(
            checks.positive("dwa.temperature", temperature)
        )
        self.last_losses = self.add_state("last_losses", "zeros")

    def after_evaluation(self, losses: np.ndarray, seen: np.ndarray) -> None:
        """Updates the factors of the tasks that were trained."""
        last = self.last_losses.numpy()
        known = seen & (last > 0.0)
        rates = np.where(known, losses / np.where(known, last, 1.0), 1.0)
        powers = np.exp((rates - rates.max()) / self.temperature) * seen
        factors = np.sum(seen) * powers / max(np.sum(powers), _TINY)
        self.factors.assign(np.where(seen, factors, self.factors.numpy()))
        self.last_losses.assign(np.where(seen, losses, last))

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return {**super().get_config(), "temperature": self.temperature}


@keras.saving.register_keras_serializable(package="mtl_tf")
class GradNormWeights(AdaptedWeights):
    """Gradient normalisation (Chen et al. 2018, equations 1 and 2).

    G_i is the norm of the gradient of w_i L_i. The factors w_i move so that
    each G_i comes near the mean norm of all tasks times r_i^alpha. r_i is the
    inverse training rate of the task: L_i / L_i(0) divided by its mean over the
    tasks. L_i(0) is the task's loss at its first step. Each step follows the
    gradient of sum_i |G_i - mean(G) r_i^alpha|, with the targets treated as
    constants. Then the factors are scaled so that their sum is T, the number of
    tasks. The static weights multiply L_i as well.

    The paper allows factors to become negative; here they stay above 1e-3. A
    group without examples does not affect a step.

    Args:
        weights: see `StaticWeights`.
        alpha: 0 makes all norms equal. A higher value gives slow tasks larger
            norms.
        learning_rate: step size for the factors, in plain gradient descent.
    """

    adapts = True

    def __init__(
        self,
        weights: Sequence[float],
        alpha: float = 1.5,
        learning_rate: float = 0.025,
        **kwargs,
    ):
        super().__init__(weights, **kwargs)
        self.alpha = float(checks.not_negative("gradnorm.alpha", alpha))
        self.learning_rate = float(
            checks.positive("gradnorm.learning_rate", learning_rate)
        )
        self.first_losses = self.add_state("first_losses", "zeros")

    def update(
        self, task: tf.Tensor, loss: tf.Tensor, norms: tf.Tensor
    ) -> None:
        """Moves the factors after a step.

        Args:
            task: int32 [G], each task at most once.
            loss: float32 [G], without the factors.
            norms: float32 [G], norms of the gradients, with the factors, of the
                weights that the tasks share.
        """
        rows = task[:, None]
        factors = tf.convert_to_tensor(self.factors.value)
        first = tf.convert_to_tensor(self.first_losses.value)
        known = tf.gather(first, task)
        known = tf.where(known > 0.0, known, loss)
        present = (loss > 0.0) & (known > 0.0)
        progress = tf.where(present, loss / tf.where(present, known, 1.0), 0.0)
        rate = progress / tf.maximum(_mean_of(progress, present), _TINY)
        target = _mean_of(norms, present) * tf.pow(rate, self.alpha)
        current = tf.gather(factors, task)
        slope = tf.sign(norms - target) * norms / current
        moved = current - self.learning_rate * tf.where(present, slope, 0.0)
        new = tf.tensor_scatter_nd_update(
            factors, rows, tf.maximum(moved, _LEAST)
        )
        new *= len(self.weights_of_tasks) / tf.reduce_sum(new)
        self.factors.assign(new)
        self.first_losses.assign(
            tf.tensor_scatter_nd_update(first, rows, known)
        )

    def get_config(self) -> dict:
        """The constructor's arguments."""
        options = {"alpha": self.alpha, "learning_rate": self.learning_rate}
        return {**super().get_config(), **options}


_LEAST = 1e-3
_TINY = 1e-12


def _mean_of(values: tf.Tensor, present: tf.Tensor) -> tf.Tensor:
    count = tf.reduce_sum(tf.cast(present, tf.float32))
    total = tf.reduce_sum(tf.where(present, values, 0.0))
    return total / tf.maximum(count, 1.0)


LOSS_WEIGHTINGS = {
    "static": StaticWeights,
    "uncertainty": UncertaintyWeights,
    "dwa": DynamicWeights,
    "gradnorm": GradNormWeights,
}


def _class_of(name: str) -> type[StaticWeights]:
    if own_functions.is_own(name):
        return own_functions.load_class(name, StaticWeights)
    return look_up(name, LOSS_WEIGHTINGS, "loss weighting")


def adapts(name: str) -> bool:
    """Whether a weighting needs the norms of the task gradients.

    Raises:
        ConfigError: as in `make_loss_weighting`.
    """
    return _class_of(name).adapts


def options_of(training: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the weighting that the config's `training` names."""
    name = training["loss_weighting"]
    if own_functions.is_own(name):
        return dict(training["loss_weighting_options"])
    return dict(training.get(name, {}))


def make_loss_weighting(
    name: str, weights: Sequence[float], /, **options
) -> StaticWeights:
    """Makes the weighting that `training.loss_weighting` names.

    Args:
        name: a name in `LOSS_WEIGHTINGS`, or the path of a user's class derived
            from `StaticWeights` (see `own_functions.load`).
        weights: see `StaticWeights`.
        **options: options of the weighting.

    Raises:
        ConfigError: the name, class or option does not exist, or a user's
            class fails.
    """
    cls = _class_of(name)
    # Losses are float32 under any global policy.
    with precision.of_runs_alone():
        if own_functions.is_own(name):
            return own_loss_weighting.make(cls, name, weights, options)
        return cls(weights, **options)
