"""Adam's update of a whole variable in one pass over memory."""

import numpy as np
import tensorflow as tf


def apply_adam(
    variable: tf.Variable,
    moments: tuple[tf.Variable, tf.Variable],
    gradient: tf.Tensor,
    step: tf.Tensor,
    rate: tf.Tensor,
    betas: tuple[float, float],
    epsilon: float,
) -> None:
    """Keras's update, which takes a pass for each of its operations.

    Args:
        variable: what is updated.
        moments: the averages of gradients and of their squares.
        gradient: like the variable.
        step: the number of this update, from 1 on, a float.
        rate: the learning rate.
        betas: how much of each moment stays.
        epsilon: added to the root of the second.
    """
    dtype = variable.dtype
    beta_1, beta_2 = (tf.cast(beta, dtype) for beta in betas)
    # The operation takes 1 - beta from the rounded beta, of which the small
    # difference keeps few digits.
    rounded = 1.0 - float(dtype.as_numpy_dtype(betas[1]))
    if rounded > 0.0:
        rate = rate * np.sqrt(rounded / (1.0 - betas[1]))
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle,
        m=moments[0].handle,
        v=moments[1].handle,
        beta1_power=tf.pow(beta_1, step),
        beta2_power=tf.pow(beta_2, step),
        lr=tf.cast(rate, dtype),
        beta1=beta_1,
        beta2=beta_2,
        epsilon=tf.cast(epsilon, dtype),
        grad=tf.cast(gradient, dtype),
    )
