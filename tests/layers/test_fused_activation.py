"""Activations of one pass: values, gradients, and where they are used."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.pretrained import fused_activation
from mtl_tf.layers.recurrent import recurrence
from tests.layers.encoder_testing import batch, made, make_backbone
from tests.traces import compiled


@pytest.fixture(scope="module")
def backbone():
    return make_backbone()


def gelu(x):
    return x * 0.5 * (1.0 + np.vectorize(math.erf)(x / math.sqrt(2.0)))


def gelu_slope(x):
    density = np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    return gelu(x) / np.where(x == 0.0, 1.0, x) + x * density


def silu(x):
    return x / (1.0 + np.exp(-x))


def silu_slope(x):
    s = 1.0 / (1.0 + np.exp(-x))
    return s + x * s * (1.0 - s)


def dense(activation, dtype="float32"):
    """A layer that is its activation."""
    layer = keras.layers.Dense(
        1, activation=activation, kernel_initializer="ones", dtype=dtype
    )
    layer.build((None, 1))
    fused_activation.fuse([layer])
    return layer


@pytest.mark.parametrize(
    "name, value, slope",
    [("gelu", gelu, gelu_slope), ("silu", silu, silu_slope)],
)
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_values_and_gradients(name, value, slope, dtype):
    layer = dense(name, dtype)
    x = np.linspace(-4.0, 4.0, 34, dtype="float32")[:, None]
    if dtype == "mixed_bfloat16":
        x = np.float32(tf.cast(x, tf.bfloat16))
    given = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = layer(given)
    tolerance = 1e-5 if dtype == "float32" else 1e-2
    np.testing.assert_allclose(
        np.float32(y), value(x), atol=tolerance, rtol=tolerance
    )
    found = np.float32(tape.gradient(y, given))
    np.testing.assert_allclose(found, slope(x), atol=tolerance, rtol=tolerance)


def test_other_activations_are_left_alone():
    for activation in ("softmax", "relu", "tanh", None):
        layer = keras.layers.Dense(3, activation=activation)
        before = layer.activation
        fused_activation.fuse([layer])
        assert layer.activation is before


@pytest.mark.extended
def test_an_encoder_uses_them_but_not_in_exports(backbone):
    layer, tokens = made(backbone), batch([2, 7, 8, 3])
    assert compiled(lambda: layer(tokens))
    plain = layer(tokens)
    with recurrence.options(jit=False):
        assert not compiled(lambda: layer(tokens))
        np.testing.assert_allclose(layer(tokens), plain, atol=1e-5)


@pytest.mark.extended
def test_the_gradient_of_an_encoder_is_that_of_its_backbone(backbone):
    """On the pieces' vectors, below everything else."""
    layer, pieces = made(backbone), [2, 7, 8, 9, 3]

    def gradient(states, of):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(states() ** 3)
        table = next(w for w in of.weights if "token_embedding" in w.path)
        return tf.convert_to_tensor(tape.gradient(loss, table))

    ours = gradient(lambda: layer(batch(pieces)), layer)
    inputs = {
        "token_ids": tf.constant([pieces]),
        "segment_ids": tf.zeros([1, 5], tf.int32),
        "padding_mask": tf.ones([1, 5], tf.int32),
    }
    theirs = gradient(lambda: backbone(inputs)["sequence_output"], backbone)
    assert np.abs(theirs).max() > 0.1
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
