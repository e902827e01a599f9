"""Weights of the tasks' losses in the sum that a step minimises."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.names import look_up


@keras.saving.register_keras_serializable(package="mtl_tf")
class StaticWeights(keras.layers.Layer):
    """Multiplies each task's loss with a constant (lambda_k of the papers).

    Args:
        weights: one factor per task, zero or positive.

    Call arguments:
        task: int32 [G], the task of each group.
        loss: float32 [G].

    Returns:
        The weighted losses, float32 [G].
    """

    def __init__(self, weights: Sequence[float], **kwargs):
        super().__init__(**kwargs)
        self.weights_of_tasks = [
            float(checks.not_negative("loss_weight", w)) for w in weights
        ]
        self.built = True

    def call(self, task: tf.Tensor, loss: tf.Tensor) -> tf.Tensor:
        """See the class."""
        return loss * tf.gather(tf.constant(self.weights_of_tasks), task)

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
    number per task that starts at 0. The static weights stay as factors.
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


LOSS_WEIGHTINGS = {"static": StaticWeights, "uncertainty": UncertaintyWeights}


def make_loss_weighting(name: str, weights: Sequence[float]) -> StaticWeights:
    """The weighting that `training.loss_weighting` names.

    Raises:
        ConfigError: an unknown name.
    """
    return look_up(name, LOSS_WEIGHTINGS, "loss weighting")(weights)
