"""Dropout that is a function of seed and salt."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.dropout import Dropout
from tests.layers.layer_testing import run_layer_test


def test_dropout_is_a_function_of_seed_and_salt():
    x = tf.ones([1, 100, 50])
    seed = tf.constant([3, 4])
    layer = Dropout(0.3, salt="a")
    one = layer(x, training=True, seed=seed)
    np.testing.assert_array_equal(
        one, Dropout(0.3, salt="a")(x, training=True, seed=seed)
    )
    traced = tf.function(layer)(x, training=True, seed=seed)
    np.testing.assert_array_equal(one, traced)
    # XLA draws other numbers, but again always the same ones.
    compiled = [
        tf.function(layer, jit_compile=True)(x, training=True, seed=seed)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*compiled)
    other = Dropout(0.3, salt="b")(x, training=True, seed=seed)
    assert np.mean(np.array(one) != np.array(other)) > 0.3
    later = layer(x, training=True, seed=seed + 1)
    assert np.mean(np.array(one) != np.array(later)) > 0.3
    assert abs(np.mean(np.array(one) == 0) - 0.3) < 0.03
    np.testing.assert_allclose(np.max(one), 1 / 0.7, rtol=1e-6)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_short_dropout_is_one_too(rate):
    x = tf.ones([3, 101, 51])  # an odd number of elements
    seed = tf.constant([3, 4])
    layer = Dropout(rate, salt="a", short=True)
    one = layer(x, training=True, seed=seed)
    traced = tf.function(layer)(x, training=True, seed=seed)
    np.testing.assert_array_equal(one, traced)
    for salt, later in (("b", 0), ("a", 1)):
        other = Dropout(rate, salt=salt, short=True)
        other = other(x, training=True, seed=seed + later)
        assert np.mean(np.array(one) != np.array(other)) > 0.9 * rate
    # Every element is drawn by itself: neither halves nor rows go together.
    dropped = np.array(one).reshape(-1) == 0
    assert abs(np.mean(dropped) - rate) < 0.02
    pairs = dropped[:-1].reshape(-1, 2)
    assert abs(np.mean(pairs.all(1)) - rate**2) < 0.02
    np.testing.assert_allclose(np.max(one), 1 / (1 - rate), rtol=1e-4)
    np.testing.assert_allclose(np.mean(one), 1.0, atol=0.03)
    half = layer(tf.cast(x, tf.bfloat16), training=True, seed=seed)
    np.testing.assert_array_equal(np.array(half) == 0, np.array(one) == 0)


def test_dropout_does_nothing_unless_training():
    x = tf.random.stateless_normal([2, 3], [1, 2])
    run_layer_test(
        lambda: Dropout(0.5, salt="head"),
        (x,),
        parameters=0,
        output_shapes=(2, 3),
    )
    np.testing.assert_array_equal(Dropout(0.5)(x), x)
    np.testing.assert_array_equal(Dropout(0.0)(x, training=True), x)


def test_dropout_without_a_seed_counts_its_calls():
    x = tf.ones([40, 50])
    layer = Dropout(0.5, salt="head", name="drop")
    step = tf.function(lambda: layer(x, training=True))
    first, second, third = step(), step(), layer(x, training=True)
    assert 0.4 < np.mean(np.equal(first, 0)) < 0.6
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)
    # What is dropped is a function of the number and of the names.
    again = Dropout(0.5, salt="head", name="drop")
    np.testing.assert_array_equal(again(x, training=True), first)
    np.testing.assert_array_equal(again(x, training=True), second)
    other = Dropout(0.5, salt="head", name="another")
    assert not np.array_equal(other(x, training=True), first)
    assert not layer.variables


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan"), "0.5"])
def test_wrong_dropout_rates(rate):
    with pytest.raises(ConfigError, match="dropout rate must be"):
        Dropout(rate)
