import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.loss_weighting import make_loss_weighting
from tests.training import toy
from tests.training.balancing_references import grad_norm_step
from tests.training.killing import run_killed

TASK = tf.constant([2, 0])
LOSS = tf.constant([3.0, 5.0])


def test_static_weights_belong_to_tasks():
    layer = make_loss_weighting("static", [2.0, 1.0, 0.5])
    np.testing.assert_allclose(layer(TASK, LOSS), [1.5, 10.0])
    assert layer.trainable_variables == []


@pytest.mark.parametrize("name", ["static", "uncertainty", "gradnorm"])
def test_keras_policy_of_other_models_changes_no_losses(name):
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        layer = make_loss_weighting(name, [2.0, 1.0, 0.5])
        assert layer(TASK, LOSS).dtype == tf.float32
        assert keras.config.dtype_policy().name == "mixed_bfloat16"
    finally:
        keras.config.set_dtype_policy("float32")


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


def after(layer, losses):
    """Ends a period with these losses; tasks with None were not trained."""
    seen = np.array([loss is not None for loss in losses])
    layer.after_evaluation(
        np.array([loss or 0.0 for loss in losses], np.float32), seen
    )
    return np.array(layer.values())


def test_dynamic_weights_follow_the_papers_equation():
    layer = make_loss_weighting("dwa", [1.0, 1.0, 3.0], temperature=0.5)
    np.testing.assert_allclose(after(layer, [2.0, 1.0, 4.0]), [1, 1, 3])
    powers = np.exp(np.array([1.0 / 2.0, 0.9 / 1.0, 4.4 / 4.0]) / 0.5)
    expected = 3 * powers / powers.sum() * [1, 1, 3]
    values = after(layer, [1.0, 0.9, 4.4])
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(
        layer(TASK, LOSS), LOSS * expected[[2, 0]], rtol=1e-5
    )
    assert layer.trainable_variables == []


def test_dynamic_weights_of_tasks_that_were_not_trained_stay():
    layer = make_loss_weighting("dwa", [1.0, 1.0, 1.0])
    after(layer, [2.0, 1.0, None])
    # Of the first two; the third has no period before, nor this one.
    powers = np.exp([0.5 / 2.0, 2.0 / 2.0])
    values = after(layer, [1.0, 2.0, None])
    np.testing.assert_allclose(values, [*(2 * powers / powers.sum()), 1.0])
    same = after(layer, [None, None, None])
    np.testing.assert_array_equal(same, values)
    alone = after(layer, [None, None, 7.0])
    np.testing.assert_allclose(alone, [*values[:2], 1.0])


def test_a_huge_rise_of_a_loss_is_no_infinite_weight():
    layer = make_loss_weighting("dwa", [1.0, 1.0])
    after(layer, [1e-6, 1.0])
    np.testing.assert_allclose(after(layer, [1e4, 1.0]), [2.0, 0.0])


def test_wrong_temperatures():
    with pytest.raises(ConfigError, match="dwa.temperature must be positive"):
        make_loss_weighting("dwa", [1.0], temperature=0.0)


def test_gradnorm_follows_the_papers_algorithm():
    rng = np.random.default_rng(0)
    layer = make_loss_weighting(
        "gradnorm", [1.0] * 4, alpha=0.7, learning_rate=0.1
    )
    task = np.array([3, 1, 0, 2])
    factors, first = np.ones(4), np.zeros(4)
    for step in range(6):
        loss = rng.uniform(0.2, 2.0, 4)
        norms = rng.uniform(0.1, 3.0, 4)
        if not step:
            first[task] = loss
        expected = grad_norm_step(factors, first, task, loss, norms, 0.7, 0.1)
        layer.update(
            tf.constant(task),
            tf.constant(loss, tf.float32),
            tf.constant(factors[task] * norms, tf.float32),
        )
        np.testing.assert_allclose(layer.factors.numpy(), expected, rtol=1e-4)
        np.testing.assert_allclose(sum(layer.values()), 4.0, rtol=1e-6)
        factors = expected
    np.testing.assert_allclose(layer.first_losses.numpy(), first, rtol=1e-6)
    assert layer.trainable_variables == []


@pytest.mark.extended
def test_gradnorm_makes_the_norms_equal_where_alpha_is_zero():
    layer = make_loss_weighting("gradnorm", [1.0, 1.0], alpha=0.0)
    for _ in range(400):
        norms = layer.factors.numpy() * np.array([0.5, 1.5], "f")
        layer.update(
            tf.constant([0, 1]), tf.constant([1.0, 1.0]), tf.constant(norms)
        )
    np.testing.assert_allclose(layer.values(), [1.5, 0.5], atol=0.05)


def test_gradnorm_leaves_a_task_without_examples_alone():
    layer = make_loss_weighting("gradnorm", [1.0, 1.0, 1.0])
    for loss in ([0.0, 2.0, 1.0], [0.0, 1.0, 0.9]):
        layer.update(
            tf.constant([0, 1, 2]),
            tf.constant(loss),
            tf.constant([0.0, 1.0, 3.0]),
        )
    assert np.isfinite(layer.values()).all()
    assert layer.first_losses.numpy()[0] == 0.0
    assert layer.values()[2] < layer.values()[1]


def test_gradnorm_factors_stay_positive():
    layer = make_loss_weighting("gradnorm", [1.0, 1.0], learning_rate=50.0)
    layer.update(
        tf.constant([0, 1]), tf.constant([1.0, 1.0]), tf.constant([9.0, 0.1])
    )
    assert min(layer.values()) > 0.0
    task, loss = tf.constant([1, 0]), tf.constant([3.0, 5.0])
    expected = [3.0 * layer.values()[1], 5.0 * layer.values()[0]]
    np.testing.assert_allclose(layer(task, loss), expected, rtol=1e-6)


def test_wrong_options_of_gradnorm():
    with pytest.raises(ConfigError, match="alpha must be zero or positive"):
        make_loss_weighting("gradnorm", [1.0], alpha=-1.0)
    with pytest.raises(ConfigError, match="learning_rate must be positive"):
        make_loss_weighting("gradnorm", [1.0], learning_rate=0.0)


STAGE = """
from tests.training import toy
toy.Stage(arguments[0], weighting="dwa", evaluate_every=3).run()
"""


@pytest.mark.extended
def test_dynamic_weights_resume_bit_equal(tmp_path):
    settings = {"weighting": "dwa", "evaluate_every": 3}
    whole = toy.Stage(tmp_path / "whole", **settings).run().values()
    for saves in (1, 2, 3):
        directory = tmp_path / str(saves)
        run_killed(STAGE, saves, directory)
        resumed = toy.Stage(directory, **settings).run().values()
        for ours, theirs in zip(resumed, whole, strict=True):
            np.testing.assert_array_equal(ours, theirs)
