"""The output layer and its losses."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.softmax_output import SoftmaxOutput
from tests.layers.layer_testing import (
    finite_differences,
    run_layer_test,
    weights_of,
)

ROWS, SIZE, WORDS = 5, 3, 7
TARGET = tf.constant([3, 0, 6, 3, 1])


def make_layer(vocabulary=WORDS, **options):
    layer = SoftmaxOutput(
        vocabulary, init={"name": "uniform", "range": 0.9}, name="o", **options
    )
    layer.build((None, SIZE))
    return layer


def features(rows=ROWS, scale=1.0):
    draw = np.random.default_rng(0)
    return (scale * draw.normal(size=(rows, SIZE))).astype("float32")


def expected_losses(values, smoothing, target):
    logits = values["x"] @ values["kernel"].T + values.get("bias", 0.0)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    wanted = (1 - smoothing) * np.eye(WORDS)[target] + smoothing / WORDS
    return -np.sum(wanted * logs, -1)


@pytest.mark.parametrize("smoothing, bias", [(0.0, True), (0.2, False)])
def test_losses_and_gradients_are_those_of_smoothed_targets(smoothing, bias):
    layer = make_layer(label_smoothing=smoothing, bias=bias)
    x, scale = tf.constant(features()), np.arange(1.0, ROWS + 1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        losses = layer(x, TARGET, training=True)
        total = tf.reduce_sum(losses * tf.cast(scale, tf.float32))
    gradients = tape.gradient(total, [x, *layer.trainable_variables])
    values = {"x": np.array(x, np.float64)} | weights_of(layer)
    wanted = expected_losses(values, smoothing, TARGET.numpy())
    np.testing.assert_allclose(losses, wanted, atol=1e-5)
    names = ["x", *(v.name for v in layer.trainable_variables)]
    for name, gradient in zip(names, gradients):
        wanted = finite_differences(
            lambda: np.sum(
                scale * expected_losses(values, smoothing, TARGET.numpy())
            ),
            values[name],
        )
        gradient = tf.convert_to_tensor(gradient)
        np.testing.assert_allclose(gradient, wanted, atol=1e-5, err_msg=name)
    plain = expected_losses(values, 0.0, TARGET.numpy())
    np.testing.assert_allclose(layer(x, TARGET), plain, atol=1e-5)


def test_large_logits_have_exact_losses_and_no_nan():
    layer = make_layer()
    x = tf.constant(features(scale=1e4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        losses = layer(x, TARGET, training=True)
    logits = np.array(x) @ layer.kernel.numpy().T + layer.bias.numpy()
    behind = logits.max(-1) - logits[range(ROWS), TARGET.numpy()]
    assert behind.max() > 1e3
    np.testing.assert_allclose(losses, behind, rtol=1e-4, atol=1e-3)
    assert np.isfinite(tape.gradient(losses, x)).all()


def test_samples_are_a_function_of_the_seed():
    layer = make_layer(50, samples=40)
    x = features()

    def loss(seed):
        return layer(x, TARGET, training=True, seed=seed).numpy()

    np.testing.assert_array_equal(loss([1, 0]), loss([1, 0]))
    assert np.abs(loss([1, 0]) - loss([1, 1])).max() > 1e-3
    with pytest.raises(ValueError, match="samples need a seed"):
        layer(x, TARGET, training=True)


def test_training_on_samples_finds_the_whole_distribution():
    layer = make_layer(samples=4)
    share = np.array([0.3, 0.2, 0.1, 0.05, 0.05, 0.05, 0.25])
    target = tf.constant(np.repeat(np.arange(WORDS), (100 * share).astype(int)))
    x = tf.zeros([100, SIZE])

    @tf.function
    def train(steps, mean):
        for step in tf.range(steps):
            with tf.GradientTape() as tape:
                seed = tf.stack([0, step])
                losses = layer(x, target, training=True, seed=seed)
            slope = tf.convert_to_tensor(
                tape.gradient(losses, layer.bias.value)
            )
            rate = 0.005 / (1.0 + 0.002 * tf.cast(step, tf.float32))
            layer.bias.assign(layer.bias - rate * slope)
            if step >= steps // 2:
                mean += 2.0 * tf.nn.softmax(layer.bias)
        return mean / tf.cast(steps, tf.float32)

    found = train(tf.constant(3000), tf.zeros([WORDS]))
    np.testing.assert_allclose(found, share, atol=0.03)


def test_only_sampled_rows_have_a_gradient():
    layer = make_layer(1000, samples=4)
    with tf.GradientTape() as tape:
        losses = layer(features(), TARGET, training=True, seed=[0, 0])
    gradient = tape.gradient(losses, layer.kernel.value)
    assert isinstance(gradient, tf.IndexedSlices)
    assert len(set(gradient.indices.numpy())) <= 4 + ROWS


def test_the_layer_round_trips_and_checks_its_options():
    run_layer_test(
        lambda: SoftmaxOutput(WORDS, label_smoothing=0.1, name="o"),
        [tf.constant(features()), TARGET],
        parameters=WORDS * (SIZE + 1),
        output_shapes=[(ROWS,)],
        symbolic=(),
    )
    with pytest.raises(ConfigError, match="label_smoothing must be 0 with a"):
        SoftmaxOutput(WORDS, label_smoothing=0.1, samples=3)


@pytest.mark.parametrize("words, count", [(5, 2), (5, 9), (4_100, 3)])
def test_the_best_tokens_have_the_smallest_losses(words, count):
    layer = SoftmaxOutput(words)
    layer.build([None, 4])
    x = tf.constant(np.random.default_rng(0).normal(size=[3, 4]), tf.float32)
    log_p, ids = layer.best(x, count)
    for row in range(3):
        losses = layer(tf.repeat(x[row : row + 1], words, 0), tf.range(words))
        best = np.argsort(losses)[:count]
        np.testing.assert_array_equal(ids[row], best)
        np.testing.assert_allclose(log_p[row], -losses.numpy()[best], rtol=1e-5)
