"""Gradient reversal, the orthogonality penalty, discriminator, ramps."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.adversarial.gradient_reversal import reverse_gradient
from mtl_tf.layers.adversarial.orthogonality import orthogonality_penalty
from mtl_tf.layers.adversarial.ramp import check_ramp, ramp
from mtl_tf.layers.adversarial.task_discriminator import TaskDiscriminator
from tests.layers.layer_testing import finite_differences, run_layer_test

DRAW = np.random.default_rng(0)
SHARED = DRAW.normal(size=(2, 5, 3))
PRIVATE = DRAW.normal(size=(2, 5, 4))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("weight", [1.0, 0.3, 0.0])
def test_the_gradient_is_reversed_and_the_value_is_not(weight, compiled):
    x = tf.constant([1.0, -2.0, 3.0])

    def run(x, weight):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = reverse_gradient(x, weight)
            total = tf.reduce_sum(y**2)
        return y, tape.gradient(total, x)

    if compiled:
        run, weight = tf.function(run), tf.constant(weight)
    y, gradient = run(x, weight)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_allclose(gradient, -weight * 2 * np.array(x), rtol=1e-6)


def penalty(shared, private, weight, mean=False):
    """|| S^T H ||_F^2, or of S^T H / n, in NumPy, row by row."""
    found = []
    for s, p, w in zip(shared, private, weight):
        rows = [n for n in range(len(w)) if w[n]]
        product = sum(np.outer(s[n], p[n]) for n in rows)
        if mean:
            product = product / max(len(rows), 1)
        found.append(np.sum(np.asarray(product) ** 2))
    return np.array(found)


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("filler", [0, 2])
def test_penalty_and_its_gradient_are_the_formula(filler, mean):
    weight = np.ones([2, 5])
    weight[1, 5 - filler :] = 0
    shared, private = SHARED.copy(), PRIVATE.copy()
    s, p = tf.constant(shared), tf.constant(private)
    with tf.GradientTape() as tape:
        tape.watch([s, p])
        got = orthogonality_penalty(s, p, tf.constant(weight), mean)
    expected = penalty(shared, private, weight, mean)
    np.testing.assert_allclose(got, expected, rtol=1e-12)

    def total():
        return penalty(shared, private, weight, mean).sum()

    for gradient, value in zip(tape.gradient(got, [s, p]), [shared, private]):
        wanted = finite_differences(total, value)
        np.testing.assert_allclose(gradient, wanted, atol=1e-8)


def test_penalty_without_weights_counts_all_and_without_rows_is_0():
    got = orthogonality_penalty(tf.constant(SHARED), tf.constant(PRIVATE))
    expected = penalty(SHARED, PRIVATE, np.ones([2, 5]))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    none = orthogonality_penalty(
        tf.constant(SHARED), tf.constant(PRIVATE), tf.zeros([2, 5]), mean=True
    )
    np.testing.assert_array_equal(none, [0, 0])


@pytest.mark.parametrize("mean, factor", [(True, 1.0), (False, 9.0)])
def test_only_the_mean_is_the_same_for_a_larger_batch(mean, factor):
    once = orthogonality_penalty(
        tf.constant(SHARED), tf.constant(PRIVATE), mean=mean
    )
    thrice = orthogonality_penalty(
        tf.tile(SHARED, [1, 3, 1]), tf.tile(PRIVATE, [1, 3, 1]), mean=mean
    )
    np.testing.assert_allclose(factor * once, thrice, rtol=1e-12)


@pytest.mark.parametrize("mean", [False, True])
def test_replicas_have_the_penalty_of_the_whole_batch(two_replicas, mean):
    """Not the mean of their own: products are summed before they are squared.

    The replicas have unlike numbers of rows.
    """
    weight = np.array([[1, 1, 1, 1, 1, 0], [1, 1, 0, 1, 0, 0]], float)
    shared, private = (
        np.pad(x, [[0, 0], [0, 1], [0, 0]]) for x in (SHARED, PRIVATE)
    )

    def pieces(values):
        halves = np.split(np.asarray(values), 2, axis=1)
        return two_replicas.experimental_distribute_values_from_function(
            lambda c: tf.constant(halves[c.replica_id_in_sync_group])
        )

    def replica(s, p, w):
        with tf.GradientTape() as tape:
            tape.watch([s, p])
            got = orthogonality_penalty(s, p, w, mean)
            # As a trainer does: each replica has half of it.
            total = tf.reduce_sum(got) / 2.0
        return got, tape.gradient(total, [s, p])

    @tf.function
    def run(*arguments):
        return two_replicas.run(replica, arguments)

    got, found = run(pieces(shared), pieces(private), pieces(weight))
    expected = penalty(shared, private, weight, mean)
    for one in two_replicas.experimental_local_results(got):
        np.testing.assert_allclose(one, expected, rtol=1e-10)
    s, p = tf.constant(shared), tf.constant(private)
    with tf.GradientTape() as tape:
        tape.watch([s, p])
        whole = tf.reduce_sum(
            orthogonality_penalty(s, p, tf.constant(weight), mean)
        )
    for parts, wanted in zip(found, tape.gradient(whole, [s, p])):
        parts = two_replicas.experimental_local_results(parts)
        np.testing.assert_allclose(np.concatenate(parts, 1), wanted, rtol=1e-9)


def test_orthogonal_outputs_have_no_penalty():
    shared = tf.constant([[[1.0, 2.0], [1.0, 2.0]]])
    private = tf.constant([[[1.0, -3.0], [-1.0, 3.0]]])
    got = orthogonality_penalty(shared, private)
    np.testing.assert_allclose(got, [0.0], atol=1e-6)


def make_discriminator(tasks=3):
    layer = TaskDiscriminator(
        tasks, init={"name": "uniform", "range": 0.7}, name="d"
    )
    layer.build((None, None, 3))
    return layer


def test_discriminator_is_a_softmax_over_tasks():
    layer, task = make_discriminator(), [2, 0]
    output = layer(tf.constant(SHARED, tf.float32), tf.constant(task))
    logits = SHARED @ np.array(layer.kernel) + np.array(layer.bias)
    np.testing.assert_allclose(output["logits"], logits, atol=1e-5)
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    for g, number in enumerate(task):
        np.testing.assert_allclose(
            output["loss"][g], -log[g, :, number], atol=1e-5
        )
        np.testing.assert_array_equal(
            output["correct"][g], logits[g].argmax(-1) == number
        )


@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_only_the_gradient_of_the_input_is_reversed_and_weighted(weight):
    layer, task = make_discriminator(), [2, 0]
    x, values = SHARED.copy(), [np.array(w, float) for w in layer.weights]

    def total():
        logits = x @ values[0] + values[1]
        log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        return -sum(log[g, :, k].sum() for g, k in enumerate(task))

    given = tf.constant(x, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(given)
        loss = tf.reduce_sum(
            layer(given, tf.constant(task), weight=weight)["loss"]
        )
    np.testing.assert_allclose(loss, total(), atol=1e-5)
    found = tape.gradient(loss, [given, *layer.trainable_variables])
    expected = [finite_differences(total, v) for v in (x, *values)]
    np.testing.assert_allclose(found[0], -weight * expected[0], atol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-5)
    np.testing.assert_allclose(found[2], expected[2], atol=1e-5)


def test_discriminator_as_a_layer():
    run_layer_test(
        make_discriminator,
        (tf.constant(SHARED, tf.float32), tf.constant([2, 0])),
        parameters=3 * 3 + 3,
        output_shapes={
            "logits": (2, 5, 3),
            "loss": (2, 5),
            "correct": (2, 5),
        },
    )
    assert not any(marks_of(w).is_private for w in make_discriminator().weights)


def test_a_single_task_has_no_loss():
    output = make_discriminator(1)(
        tf.constant(SHARED, tf.float32), tf.constant([0, 0])
    )
    assert not np.any(output["loss"]) and np.all(output["correct"] == 1)


@pytest.mark.parametrize(
    "name, steps, expected",
    [
        ("constant", 0, {0: 0.0, 9: 0.0, 10: 1.0, 500: 1.0}),
        ("linear", 20, {0: 0.0, 10: 0.0, 15: 0.25, 30: 1.0, 500: 1.0}),
        ("sigmoid", 20, {0: 0.0, 10: 0.0, 20: 2 / (1 + np.exp(-5)) - 1}),
    ],
)
def test_ramps(name, steps, expected):
    for step, factor in expected.items():
        got = ramp(name, tf.constant(step, tf.int64), 10, steps)
        np.testing.assert_allclose(got, factor, atol=1e-6)
    rising = [ramp(name, tf.constant(n), 10, steps) for n in range(40)]
    assert np.all(np.diff(rising) >= 0) and rising[-1] > 0.9999


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("lnear", 0, 5), "a_schedule.*did you mean 'linear'"),
        (("linear", -1, 5), "a_start must be .* got -1"),
        (("linear", 0, 0), "a_steps must be positive for the linear"),
        (("constant", 0, 7), "a_steps must be 0 for the constant .* got 7"),
        (("sigmoid", 0, 1.5), "a_steps must be .* got 1.5"),
    ],
)
def test_wrong_ramps(arguments, message):
    with pytest.raises(ConfigError, match=message):
        check_ramp("a", *arguments)
