"""NovoGrad without momentum, for the vectors of n-grams."""

import math

import keras
import tensorflow as tf

#: The learning rate if none is given.
DEFAULT_RATE = 3.0
_BETA = 0.999


class NovoGrad:
    """Steps of one length for all vectors of a task.

    NovoGrad (Ginsburg et al. 2019) divides a layer's gradient by the root of
    one second moment, the moving average of its squared norm:

        v <- beta v + (1 - beta) |g|^2
        w <- w - rate * g / sqrt(v / (1 - beta^t))

    Adam has a moment for each number, so a vector that few texts read moves as
    far as one that many read, and rare n-grams are soon known by heart. Here
    vectors move as far as their gradients say, as in a linear model that is
    trained by gradient descent; the length of a step still does not depend on
    the scale of the loss. Without momentum, a vector without a gradient stays.
    The optimizer's weight decay does not reach these vectors.

    Args:
        optimizer: the Keras optimizer that holds the moments.
        parts: number of equal parts that a variable's rows are divided into,
            such as tasks. Each has its own moment and number of steps t, which
            change only if the part has a gradient.
    """

    def __init__(self, optimizer: keras.optimizers.Optimizer, parts: int):
        self.parts = max(parts, 1)
        self._moment, self._steps = (
            optimizer.add_variable([self.parts], initializer="zeros", name=name)
            for name in ("novograd_moment", "novograd_steps")
        )

    def update(
        self,
        gradient: tf.Tensor | tf.IndexedSlices,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
    ) -> None:
        """Updates the rows that a gradient without repeated rows names."""
        if not isinstance(gradient, tf.IndexedSlices):
            rows = tf.range(variable.shape[0])
            gradient = tf.IndexedSlices(gradient, rows)
        values = tf.cast(gradient.values, tf.float32)
        owners = gradient.indices // (variable.shape[0] // self.parts)
        axes = list(range(1, len(variable.shape)))
        squares = tf.math.unsorted_segment_sum(
            tf.reduce_sum(tf.square(values), axes), owners, self.parts
        )
        has = tf.cast(squares > 0, tf.float32)
        steps = self._steps.value.assign_add(has)
        moment = self._moment.value
        moment = moment.assign_add(has * (1.0 - _BETA) * (squares - moment))
        # A part without a gradient keeps its rows, whatever its factor.
        # 1 - beta^t, exact also while t is small.
        known = -tf.math.expm1(tf.maximum(steps, 1.0) * math.log(_BETA))
        mean = moment / known
        factors = tf.math.rsqrt(tf.where(mean > 0, mean, tf.ones_like(mean)))
        factors = tf.reshape(tf.gather(factors, owners), [-1, *[1] * len(axes)])
        change = tf.cast(learning_rate, tf.float32) * factors * values
        variable.scatter_sub(tf.IndexedSlices(change, gradient.indices))
