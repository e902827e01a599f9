import math

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.loss_weighting import make_loss_weighting

TASK = tf.constant([2, 0])
LOSS = tf.constant([3.0, 5.0])


def test_static_weights_belong_to_tasks():
    layer = make_loss_weighting("static", [2.0, 1.0, 0.5])
    np.testing.assert_allclose(layer(TASK, LOSS), [1.5, 10.0])
    assert layer.trainable_variables == []


def test_uncertainty_follows_the_papers_equation():
    layer = make_loss_weighting("uncertainty", [1.0, 1.0, 1.0])
    np.testing.assert_allclose(layer(TASK, LOSS), LOSS)
    layer.log_variance.assign([0.4, 0.0, -0.6])
    expected = [
        math.exp(0.6) * 3.0 - 0.3,
        math.exp(-0.4) * 5.0 + 0.2,
    ]
    np.testing.assert_allclose(layer(TASK, LOSS), expected, rtol=1e-6)
    np.testing.assert_allclose(
        layer.values(), [math.exp(-0.4), 1.0, math.exp(0.6)], rtol=1e-6
    )


def test_uncertainty_is_least_where_the_variance_is_twice_the_loss():
    # d/ds (exp(-s) L + s / 2) = 0 at exp(s) = 2 L.
    layer = make_loss_weighting("uncertainty", [1.0])
    layer.log_variance.assign([math.log(6.0)])
    with tf.GradientTape() as tape:
        loss = layer(tf.constant([0]), tf.constant([3.0]))
    gradient = tape.gradient(loss, layer.log_variance.value)
    np.testing.assert_allclose(tf.convert_to_tensor(gradient), [0], atol=1e-6)


def test_wrong_names_and_weights():
    with pytest.raises(ConfigError, match="did you mean 'uncertainty'"):
        make_loss_weighting("uncertanty", [1.0])
    with pytest.raises(ConfigError, match="loss_weight must be zero or pos"):
        make_loss_weighting("static", [-1.0])
