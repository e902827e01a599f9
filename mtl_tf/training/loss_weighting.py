"""Weights of the tasks' losses in the sum that a step minimises."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up


@keras.saving.register_keras_serializable(package="mtl_tf")
class StaticWeights(keras.layers.Layer):
    """Multiplies each task's loss with a constant (lambda_k of the papers).

    The base of the other weightings. What they learn are weights of the layer:
    checkpoints hold them.

    Args:
        weights: one factor per task, zero or positive.

    Attributes:
        adapts: whether `update` has to be called with the norms of the tasks'
            gradients, which needs joint steps.

    Call arguments:
        task: int32 [G], the task of each group.
        loss: float32 [G].

    Returns:
        The weighted losses, float32 [G]: the losses times something, plus
        something. (A replica has a part of a loss.)
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
        """Is called after each evaluation; does nothing by default.

        Args:
            losses: float32 [K], each task's mean training loss since the
                evaluation before.
            seen: bool [K], which tasks were trained since then; the losses of
                others are 0.
        """

    def values(self) -> list[float]:
        """The factor on each task's loss now."""
        return list(self.weights_of_tasks)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        weights = {"weights": self.weights_of_tasks}
        return {**super().get_config(), **weights}


@keras.saving.register_keras_serializable(package="mtl_tf")
class UncertaintyWeights(StaticWeights):
    """Homoscedastic uncertainty (Kendall, Gal and Cipolla 2018, eq. 10).

    A task's loss L becomes exp(-s) L + s / 2 with s = log sigma^2, one trained
    number per task that starts at 0. The static weights stay as factors. The
    paper halves exp(-s) L of regression tasks; without that their s is larger
    by log 2, and the factors that it comes to are the same.
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
        """The factor on each task's loss now."""
        factors = tf.exp(-self.log_variance.value).numpy()
        return [float(w * f) for w, f in zip(self.weights_of_tasks, factors)]


class AdaptedWeights(StaticWeights):
    """Factors that are changed during the training, 1 at first.

    The static weights stay as factors besides.

    Attributes:
        factors: float32 [K].
    """

    def __init__(self, weights: Sequence[float], **kwargs):
        super().__init__(weights, **kwargs)
        self.factors = self.add_state("factors", "ones")

    def add_state(self, name: str, initializer: str) -> keras.Variable:
        """A number for each task, float32 [K], that checkpoints hold."""
        # Not trained by the optimizer; every replica has the same update.
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
        """The factor on each task's loss now."""
        factors = self.factors.numpy()
        return [float(w * f) for w, f in zip(self.weights_of_tasks, factors)]


@keras.saving.register_keras_serializable(package="mtl_tf")
class DynamicWeights(AdaptedWeights):
    """Dynamic weight average (Liu, Johns and Davison 2019, equation 7).

    A task's factor is n softmax(r / T), over the n tasks that were trained,
    where r is its mean loss of the last period over that of the period before:
    tasks whose losses fall slowly get more. In the paper a period is an epoch,
    here it is the time between two evaluations, by default an epoch, too. Where
    there are no two periods yet, r is 1.

    Args:
        weights: see `StaticWeights`.
        temperature: T; the higher it is, the more alike the factors are.
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
        """Sets the factors of the tasks that were seen."""
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

    Factors w_i move so that the norms G_i of the gradients of w_i L_i come
    near the tasks' mean norm times r_i^alpha, where r_i is the task's inverse
    training rate, L_i / L_i(0) over the mean of that. A step follows the
    gradient of sum_i |G_i - mean(G) r_i^alpha|, whose targets count as
    constants; then the factors are scaled to the sum T, the number of tasks.
    L_i(0) is the task's loss at its first step. The static weights stay as
    factors of L_i.

    The paper leaves open that a factor can become negative: it stays above
    1e-3. A group without examples has no say in a step.

    Args:
        weights: see `StaticWeights`.
        alpha: 0 makes all norms equal; more of it lets slow tasks have more.
        learning_rate: of the factors, by plain gradient descent.
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
            norms: float32 [G], of the gradients with the factors, on the
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
    """Whether a weighting reads the norms of the tasks' gradients.

    Raises:
        ConfigError: as of `make_loss_weighting`.
    """
    return _class_of(name).adapts


def options_of(training: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the weighting that the config's `training` names."""
    name = training["loss_weighting"]
    if own_functions.is_own(name):
        return dict(training["loss_weighting_options"])
    return dict(training[name]) if name in ("dwa", "gradnorm") else {}


def make_loss_weighting(
    name: str, weights: Sequence[float], **options
) -> StaticWeights:
    """The weighting that `training.loss_weighting` names.

    Args:
        name: of `LOSS_WEIGHTINGS`, or the place of a class of the user's own
            that is derived from `StaticWeights` (see `own_functions.load`).
        weights: see `StaticWeights`.
        **options: its own.

    Raises:
        ConfigError: there is no such name, class or option, or it cannot be
            made.
    """
    cls = _class_of(name)
    if not own_functions.is_own(name):
        return cls(weights, **options)
    known = own_functions.keywords(cls, ("weights",))
    own_functions.check_options(f"loss weighting {name}", options, known)
    try:
        return cls(weights, **options)
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(
            f"the loss weighting {name} cannot be made: "
            f"{own_functions.complaint(error) or error}"
        )
