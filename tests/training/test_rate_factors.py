"""Weights that say so are trained at a fraction of the learning rate."""

import keras
import numpy as np
import pytest

from mtl_tf.configs import base
from mtl_tf.training.stage_optimizer import stage_optimizer


def test_a_weight_with_a_factor_moves_by_that_fraction():
    training = base.default_config().to_dict()["training"]
    training["l2"] = 0.0
    training["optimizer"] |= {"name": "sgd", "learning_rate": 0.1}
    training["optimizer"]["options"] = {}
    weights = [keras.Variable(np.zeros(2, "float32")) for _ in range(2)]
    weights[1].rate_factor = 0.25
    optimizer = stage_optimizer(training, 0.1, 10, weights, [])
    optimizer.apply([keras.ops.ones(2)] * 2, weights)
    moved = [weight.numpy()[0] for weight in weights]
    assert moved == pytest.approx([-0.1, -0.025])
