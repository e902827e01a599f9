"""Forget gates of recurrent layers start open."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM
from mtl_tf.layers.recurrent.shared_private import (
    ParallelSharedPrivate,
    SerialSharedPrivate,
)

pytestmark = pytest.mark.usefixtures("without_jit")
SHARED_PRIVATE = {"units": 3, "tasks": 2}
MEMORY = {"units": 3, "memory_slots": 2, "memory_width": 2}


@pytest.mark.parametrize(
    "make, biases",
    [
        (partial(LSTM, 3), ["bias"]),
        (partial(LSTM, 3, tasks=2), ["bias"]),
        (partial(HyperLSTM, 3, 2, 2), ["bias", "hyper_bias"]),
        (partial(MetaLSTM, 3, 2, 2), ["meta_bias"]),
        (partial(MELSTM, **MEMORY), ["bias"]),
        (partial(LocalGlobalLSTM, **MEMORY, tasks=2), ["bias"]),
        (partial(ParallelSharedPrivate, **SHARED_PRIVATE), ["bias"] * 2),
        (partial(SerialSharedPrivate, **SHARED_PRIVATE), ["bias"] * 2),
    ],
)
def test_forget_gates_start_open(make, biases):
    """Everything that is an LSTM starts as Keras's does, or as one asks."""
    for options, wanted in (({}, 1.0), ({"forget_bias": 0.25}, 0.25)):
        layer = make(**options)
        layer.build((None, None, None, 4))
        found = [w for w in layer.weights if w.name in biases]
        assert sorted(w.name for w in found) == sorted(biases)
        for weight in found:
            i, f, o, g = np.split(weight.numpy(), 4, axis=-1)
            np.testing.assert_array_equal(f, np.full_like(f, wanted))
            assert not np.any([i, o, g])
        assert layer.get_config()["forget_bias"] == wanted


def test_a_forget_bias_is_no_negative_number():
    with pytest.raises(ConfigError, match="forget_bias"):
        MetaLSTM(3, 2, 2, forget_bias=-1.0)


def test_the_basic_network_of_the_meta_lstm_has_a_forget_bias():
    """Its generated bias B z is 0 where z is: what is left is the constant."""
    layer = MetaLSTM(1, 2, 2, forget_bias=2.0)
    layer.build((None, None, None, 1))
    for weight in layer.weights:
        weight.assign(tf.zeros(weight.shape))
    memory = layer._recurrence(
        np.zeros([1, 1, 3, 1], "float32"),
        np.ones([1, 1, 3], bool),
        layer._weights(tf.constant([0])),
        {
            "hidden": tf.zeros([1, 1, 1]),
            "memory": tf.ones([1, 1, 1]),
            "meta_hidden": tf.zeros([1, 1, 2]),
            "meta_memory": tf.zeros([1, 1, 2]),
        },
    ).state["memory"]
    kept = (1 / (1 + np.exp(-2.0))) ** 3
    np.testing.assert_allclose(memory[0, 0, 0], kept, rtol=1e-5)


@pytest.mark.parametrize(
    "forget_bias, least, most", [(0, 0, 4e-3), (1, 2e-2, 1)]
)
def test_far_tokens_have_a_gradient(forget_bias, least, most):
    """What the bias is for: the first of 20 tokens beside the last."""
    layer = LSTM(50, forget_bias=forget_bias)
    x = np.random.default_rng(3).normal(size=(1, 4, 20, 20)).astype("float32")
    mask, task = np.ones([1, 4, 20], bool), tf.constant([0])
    with tf.GradientTape() as tape:
        x = tf.constant(0.3 * x)
        tape.watch(x)
        last = layer(x, mask, task, training=True).state["hidden"]
    sizes = np.abs(tape.gradient(last, x)).mean(axis=(0, 1, 3))
    assert least < sizes[0] / sizes[-1] < most
