"""Data for recurrent layers, and what comes out of them."""

import numpy as np
import tensorflow as tf

from tests.layers.layer_testing import assert_gradient, weights_of

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


def check_equations(layer, task, run, atol=1e-6):
    """Outputs and gradients of a layer are those of its reference.

    Args:
        layer: the layer.
        task: the groups' tasks.
        run: `run(weights, x, mask)`, in float64, returns the last states and
            those of all tokens.
        atol: the allowed distance of outputs.
    """
    batch = 4 if len(task) == 1 else 2
    x, mask = make_data(len(task), batch)
    draw = np.random.default_rng(1)
    d_summary = draw.normal(size=(len(task), batch, layer.units))
    d_sequence = draw.normal(size=(len(task), batch, LENGTH, layer.units))
    summary, sequence, gradients = outputs_and_gradients(
        layer,
        x,
        mask,
        task,
        (d_summary.astype("float32"), d_sequence.astype("float32")),
    )
    values, x64 = weights_of(layer), x.astype(np.float64)
    last, steps = run(values, x64, mask)
    np.testing.assert_allclose(summary, last, atol=atol)
    np.testing.assert_allclose(np.array(sequence)[mask], steps[mask], atol=atol)

    def total():
        last, steps = run(values, x64, mask)
        return np.sum(last * d_summary) + np.nansum(steps * d_sequence)

    names = [v.name for v in layer.trainable_variables]
    for name, gradient in zip(["x", *names], gradients):
        value = x64 if name == "x" else values[name]
        assert_gradient(gradient, total, value, name)


def check_padding(layer):
    """More padding changes neither the summary nor any gradient."""
    x, mask = make_data(1)
    short = outputs_and_gradients(layer, x, mask, [1], (1.0, 1.0))
    longer = np.pad(x, [(0, 0), (0, 0), (0, 6), (0, 0)], constant_values=9)
    wider = np.pad(mask, [(0, 0), (0, 0), (0, 6)])
    long = outputs_and_gradients(layer, longer, wider, [1], (1.0, 1.0))
    np.testing.assert_allclose(long[0], short[0], atol=1e-6)
    for a, b in zip(long[2][1:], short[2][1:]):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert not np.any(np.array(long[2][0])[:, :, LENGTH:])
