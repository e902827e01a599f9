"""Equation 23 against the paper's words and against the layer itself."""

import numpy as np
import tensorflow as tf

from mtl_tf.figures import generated_weights
from mtl_tf.figures.generated_weights import GATES, changes, factors
from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM

H, Z, D, T = 3, 2, 4, 5


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def reference(vectors, p, q, floor):
    """Equation 23 element by element."""
    result = np.full((len(p), len(vectors)), np.nan)
    for gate in range(len(p)):
        w = [p[gate] @ np.diag(z) @ q[gate] for z in vectors]
        for k in range(1, len(vectors)):
            least = floor * np.max(np.abs(w[k - 1]))
            ratios = [
                abs(new - old) / max(abs(old), least)
                for new, old in zip(w[k].ravel(), w[k - 1].ravel())
            ]
            result[gate, k] = sum(ratios) / len(ratios)
    return result


def test_changes_are_equation_23():
    vectors, p, q = draw(T, Z), draw(4, H, Z, seed=1), draw(4, Z, H + D, seed=2)
    for floor in (0.0, 0.5):
        found = changes(vectors, p, q, floor)
        expected = reference(vectors, p, q, floor)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.isnan(found[:, 0]).all()


def test_what_stands_still_does_not_change():
    p, q = draw(1, H, Z), draw(1, Z, H + D, seed=1)
    still = np.ones((3, Z))
    np.testing.assert_array_equal(changes(still, p, q)[0, 1:], [0.0, 0.0])


def test_entries_near_zero_do_not_blow_the_mean_up():
    p, q = np.ones((1, 1, 2)), np.array([[[1.0, 1.0], [-1.0, 1.0]]])
    # W goes from (1e-9, 2) to (1, 3): the floor is 0.01 of the greatest, 2.
    vectors = np.array([[1.0 + 1e-9, 1.0], [2.0, 1.0]])
    found = changes(vectors, p, q, floor=0.01)[0, 1]
    np.testing.assert_allclose(found, (1 / 0.02 + 1 / 2) / 2, rtol=1e-6)


def test_the_floor_changes_nothing_that_is_not_zero():
    """Ratios of entries that are a thousandth of the others count in full."""
    p, q = np.ones((1, 1, 2)), np.array([[[1.0, 1.0], [-1.0, 1.0]]])
    vectors = np.array([[1.0 + 1e-3, 1.0], [2.0, 1.0]])
    found = changes(vectors, p, q)[0, 1]
    expected = reference(vectors, p, q, floor=0.0)[0, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    zero = np.array([[1.0, 1.0], [2.0, 1.0]])
    assert np.isfinite(changes(zero, p, q)[0, 1])


def test_from_nothing_there_is_no_ratio():
    p, q = draw(1, H, Z), draw(1, Z, H + D, seed=1)
    found = changes(np.stack([np.zeros(Z), np.ones(Z), np.ones(Z)]), p, q)
    np.testing.assert_array_equal(found[0], [np.nan, np.nan, 0.0])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_the_matrices_are_those_the_layer_computes_with():
    """Forms W(z) and takes the basic network's first steps with it."""
    layer = MetaLSTM(H, 3, Z, tasks=2, init={"name": "uniform", "range": 1.0})
    x = draw(1, 1, T, D, seed=3).astype(np.float32)
    mask = tf.ones((1, 1, T), tf.bool)
    task = 1
    result = layer(
        tf.constant(x), mask, tf.constant([task]), sequence=True, inspect=True
    )
    vectors = result.emitted["meta_vector"].numpy()[0, 0]
    p, q = factors(layer, task)
    bias = layer.generator_bias.numpy()[task]
    hidden, memory = np.zeros(H), np.zeros(H)
    for step, z in enumerate(vectors):
        joint = np.concatenate([x[0, 0, step], hidden])
        gates = {
            name: p[k] @ np.diag(z) @ q[k] @ joint + z @ bias[k]
            for k, name in enumerate(GATES)
        }
        gates["forget gate"] += layer.forget_bias
        memory = sigmoid(gates["forget gate"]) * memory
        memory += sigmoid(gates["input gate"]) * np.tanh(gates["new input"])
        hidden = sigmoid(gates["output gate"]) * np.tanh(memory)
        found = result.sequences["hidden"].numpy()[0, 0, step]
        np.testing.assert_allclose(hidden, found, atol=1e-5)


def test_a_task_has_its_own_matrices():
    layer = MetaLSTM(H, 3, Z, tasks=2)
    layer.build((1, 1, T, D))
    vectors = draw(T, Z)
    first, second = (
        generated_weights.changes(vectors, *factors(layer, task))
        for task in (0, 1)
    )
    assert not np.allclose(first[:, 1:], second[:, 1:])
