"""Weights that say so are trained at a fraction of the learning rate."""

import keras
import numpy as np
import pytest

from mtl_tf.core.weight_marks import mark
from mtl_tf.training.optimizers.stage_optimizer import stage_optimizer
from tests.training.optimizer_fields import training_fields


@pytest.mark.parametrize(
    "steps, ratio, rate",
    [(0, 0.0, 0.1), (4, 0.0, 0.025), (0, 0.5, 0.02), (4, 0.5, 0.025)],
)
def test_a_weight_with_a_factor_moves_by_that_fraction(steps, ratio, rate):
    """In the first of ten steps, with warm-ups in steps, and as a share."""
    training = training_fields(warmup_steps=steps, warmup_ratio=ratio)
    weights = [keras.Variable(np.zeros(2, "float32")) for _ in range(2)]
    mark(weights[1], rate_factor=0.25)
    optimizer = stage_optimizer(training, 0.1, 10, weights, [])
    optimizer.apply([keras.ops.ones(2)] * 2, weights)
    moved = [weight.numpy()[0] for weight in weights]
    assert moved == pytest.approx([-rate, -rate / 4])


@pytest.mark.parametrize("pretrained", [False, True])
@pytest.mark.parametrize("own, expected", [(0.0, 0.2), (0.5, 0.5)])
def test_vectors_of_ngrams_have_their_own_rate(pretrained, own, expected):
    """0 is that of word vectors, never that of pretrained ones."""
    training = training_fields(
        embedding_learning_rate=0.2,
        pretrained_learning_rate=0.01,
        wide_learning_rate=own,
    )
    weights = [keras.Variable(np.zeros(2, "float32")) for _ in range(4)]
    vectors, wide = weights[1:], weights[2:]
    for weight in wide:
        mark(weight, is_wide=True)
    optimizer = stage_optimizer(
        training,
        0.1,
        10,
        weights,
        vectors,
        private=wide[1:],
        tasks=1,
        pretrained=pretrained,
    )
    optimizer.apply([keras.ops.ones(w.shape) for w in weights], weights)
    moved = [-np.ravel(weight)[0] for weight in weights]
    word_rate = 0.01 if pretrained else 0.2
    assert moved == pytest.approx([0.1, word_rate, expected, expected])
