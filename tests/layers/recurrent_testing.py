"""Data for recurrent layers, and what comes out of them."""

import numpy as np
import tensorflow as tf

FEATURES, LENGTH = 4, 5

UNIFORM = {"name": "uniform", "range": 0.7}


def make_data(groups, batch=4, length=LENGTH, seed=0, features=FEATURES):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(groups, batch, length, features)).astype("float32")
    lengths = draw.integers(0, length + 1, (groups, batch))
    lengths[0, 0], lengths[0, 1] = 0, length
    mask = np.arange(length) < lengths[..., None]
    return x, mask


def outputs_and_gradients(layer, x, mask, task, cotangents, training=True):
    """Summary, sequence, and gradients of their weighted sum."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = layer(
            x,
            tf.constant(mask),
            tf.constant(task),
            training=training,
            sequence=True,
        )
        summary = result.state["hidden"]
        sequence = result.sequences["hidden"]
        seen = tf.where(mask[..., None], sequence, 0.0)
        total = tf.reduce_sum(summary * cotangents[0])
        total += tf.reduce_sum(seen * cotangents[1])
    gradients = tape.gradient(total, [x, *layer.trainable_variables])
    return summary, sequence, [tf.convert_to_tensor(g) for g in gradients]
