"""Layers with external memories, and what comes out of them."""

import functools

import numpy as np
import tensorflow as tf

from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from tests.layers import recurrent_testing

FEATURES, LENGTH, UNITS, SLOTS, WIDTH = 3, 4, 3, 4, 2
UNIFORM = {"name": "uniform", "range": 0.7}

MODELS = {
    "me_lstm": (MELSTM, {"tasks": 0}),
    "private": (MELSTM, {"tasks": 3}),
    "arc_i": (MELSTM, {"tasks": 3, "shared_memory": True}),
    "arc_ii": (LocalGlobalLSTM, {"tasks": 3}),
}


def make_layer(model, **options):
    kind, defaults = MODELS[model]
    options = {"init": UNIFORM, "name": "l"} | defaults | options
    layer = kind(UNITS, SLOTS, WIDTH, **options)
    layer.build((None, None, None, FEATURES))
    return layer


# One of each kind for all tests: a layer plans its loops when it first runs.
made = functools.cache(make_layer)


def make_data(groups, batch=4, length=LENGTH):
    return recurrent_testing.make_data(groups, batch, length, features=FEATURES)


def outputs_and_gradients(layer, x, mask, task, factors, training=True):
    """A result, and the gradients of a weighted sum of its hidden states."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = layer(
            x,
            tf.constant(mask),
            tf.constant(task),
            training=training,
            inspect=True,
        )
        seen = tf.where(mask[..., None], result.sequences["hidden"], 0.0)
        total = tf.reduce_sum(result.state["hidden"] * factors[0])
        total += tf.reduce_sum(seen * factors[1])
    gradients = tape.gradient(total, [x, *layer.trainable_variables])
    return result, [tf.convert_to_tensor(g) for g in gradients]


ONES = np.float32(1.0), np.float32(0.5)
