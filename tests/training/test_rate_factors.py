"""Weights that say so are trained at a fraction of the learning rate."""

import keras
import numpy as np
import pytest

from mtl_tf.training.stage_optimizer import stage_optimizer


@pytest.mark.parametrize(
    "steps, ratio, rate",
    [(0, 0.0, 0.1), (4, 0.0, 0.025), (0, 0.5, 0.02), (4, 0.5, 0.025)],
)
def test_a_weight_with_a_factor_moves_by_that_fraction(steps, ratio, rate):
    """In the first of ten steps, with warm-ups in steps, and as a share."""
    rates = dict.fromkeys(
        ("embedding_learning_rate", "pretrained_learning_rate"), 0.0
    )
    training = {
        "l2": 0.0,
        "l2_embeddings": False,
        "clip_norm": 0.0,
        "average": 0.0,
        "optimizer": {
            "name": "sgd",
            "learning_rate": 0.1,
            "schedule": "constant",
            "warmup_steps": steps,
            "warmup_ratio": ratio,
            "lazy": False,
            "options": {},
            **rates,
        },
    }
    weights = [keras.Variable(np.zeros(2, "float32")) for _ in range(2)]
    weights[1].rate_factor = 0.25
    optimizer = stage_optimizer(training, 0.1, 10, weights, [])
    optimizer.apply([keras.ops.ones(2)] * 2, weights)
    moved = [weight.numpy()[0] for weight in weights]
    assert moved == pytest.approx([-rate, -rate / 4])
