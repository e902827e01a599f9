"""NovoGrad for the vectors of n-grams, against plain NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.weight_marks import mark
from mtl_tf.training.optimizers import optimizers
from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.stage_optimizer import stage_optimizer
from tests.training.optimizer_fields import training_fields

ROWS, PARTS, RATE = 6, 2, 0.5
# The third step has no gradient in the second part, the last in neither.
WORDS = [[0, 0, 2, 5], [1, 3, 3, 4], [2, 1, 2, 0], [5, 4, 3, 1]]


def table():
    return np.random.default_rng(0).normal(size=(ROWS, 3)).astype("f")


def slopes(step):
    return np.random.default_rng(9 + step).normal(size=(4, 3)).astype("f")


def gradient_of(step):
    gradient = np.zeros([ROWS, 3])
    np.add.at(gradient, WORDS[step], slopes(step))
    return gradient


def reference(steps=4):
    """The equations of the class, part by part."""
    rows, moments = table().astype(np.float64), [0.0] * PARTS
    counts = [0] * PARTS
    for step in range(steps):
        halves = np.split(gradient_of(step), PARTS)
        for part, gradient in enumerate(halves):
            square = np.sum(gradient**2)
            if square == 0:
                continue
            counts[part] += 1
            moments[part] += 0.001 * (square - moments[part])
            mean = moments[part] / (1 - 0.999 ** counts[part])
            half = rows[part * 3 : part * 3 + 3]
            half -= RATE * gradient / np.sqrt(mean)
    return rows


def made(name="adam"):
    variable = keras.Variable(table(), name="wide")
    optimizer = optimizers.make_optimizer({"name": name, "options": {}}, RATE)
    optimizer.configure(
        [variable], [VariableOptions(parts=PARTS, novograd=True)]
    )
    return variable, optimizer


def updated(name="adam", dense=False, jit=False, scale=1.0):
    variable, optimizer = made(name)

    @tf.function(jit_compile=jit)
    def update(rows, slope):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(variable.value, rows) * slope)
        gradient = tape.gradient(loss, variable.value)
        if dense:
            gradient = tf.convert_to_tensor(gradient)
        optimizer.apply([gradient], [variable])

    for step, rows in enumerate(WORDS):
        update(tf.constant(rows), scale * slopes(step))
    return variable.numpy()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dense": True},
        {"jit": True},
        {"name": "adagrad"},
        {"name": "keras.optimizers:Lion"},
    ],
    ids=str,
)
def test_updates(options):
    np.testing.assert_allclose(updated(**options), reference(), atol=1e-6)


def test_the_scale_of_the_loss_does_not_matter():
    np.testing.assert_allclose(updated(scale=1e4), updated(), atol=1e-5)


def test_a_part_without_a_gradient_stays():
    before = reference(2)
    after = reference(3)
    assert np.array_equal(before[3:], after[3:])
    assert not np.array_equal(before[:3], after[:3])


def test_no_moments_of_numbers_are_kept():
    _, optimizer = made()
    assert max(np.prod(v.shape) for v in optimizer.variables) == PARTS


def test_replicas_sum_before_they_are_scaled(two_replicas):
    with two_replicas.scope():
        variable, optimizer = made()

    def replica(rows, slope):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(variable.value, rows) * slope)
        optimizer.apply([tape.gradient(loss, variable.value)], [variable])

    @tf.function
    def update(rows, slope):
        two_replicas.run(replica, (rows, slope))

    def halves(values):
        return two_replicas.experimental_distribute_values_from_function(
            lambda c: tf.constant(values[c.replica_id_in_sync_group :: 2])
        )

    for step, rows in enumerate(WORDS):
        update(halves(np.array(rows)), halves(slopes(step)))
    np.testing.assert_allclose(variable.numpy(), reference(), atol=1e-6)


@pytest.mark.parametrize("rate, moved", [(0.0, 3.0), (0.7, 0.7)])
def test_only_vectors_of_ngrams_are_updated_so(rate, moved):
    training = training_fields(wide_name="novograd", wide_learning_rate=rate)
    weights = [keras.Variable(np.zeros([4, 1], "float32")) for _ in range(3)]
    wide = weights[1:]
    for weight in wide:
        mark(weight, is_wide=True)
    mark(wide[1], is_private=True)
    optimizer = stage_optimizer(
        training, 0.1, 10, weights, wide, private=wide[1:], tasks=2
    )
    optimizer.apply([keras.ops.ones([4, 1])] * 3, weights)
    # The first step is as long as the rate: in all of a shared table, and in
    # each task's part of a private one.
    lengths = [
        np.sqrt(np.sum(w.numpy().reshape(k, -1) ** 2, -1)).tolist()
        for w, k in zip(weights, (1, 1, 2))
    ]
    assert lengths[0] == pytest.approx([0.2])  # SGD: 0.1 each
    assert lengths[1] == pytest.approx([moved])
    assert lengths[2] == pytest.approx([moved, moved])
