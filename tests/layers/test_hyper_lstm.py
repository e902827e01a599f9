"""The HyperLSTM against a NumPy float64 reference written from the paper."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from tests.layers.layer_testing import (
    run_layer_test,
    weights_of,
)
from tests.layers.recurrent_testing import (
    FEATURES,
    LENGTH,
    UNIFORM,
    check_equations,
    check_padding,
    make_data,
    outputs_and_gradients,
)

pytestmark = pytest.mark.usefixtures("without_jit")

H, M, Z = 3, 2, 2


def make_layer(reverse=False, tasks=3, **options):
    layer = HyperLSTM(
        H, M, Z, tasks=tasks, reverse=reverse, init=UNIFORM, name="l", **options
    )
    layer.build((None, None, None, FEATURES))
    return layer


# One of each kind for all tests: a layer plans its loops when it first runs.
made = functools.cache(make_layer)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def update(a, c):
    """An LSTM's update from its gates' pre-activations [i, f, o, g]."""
    i, f, o, g = a
    c = np.tanh(g) * sigmoid(i) + c * sigmoid(f)
    return sigmoid(o) * np.tanh(c), c


def generated(w, part, gate, hh):
    """d_h, d_x or b - b_0 (parts 0 to 2) of a gate: W_d (W_z hhat + b_z)."""
    block = 4 * part + gate
    z = w["embedding"][:, block * Z : (block + 1) * Z].T @ hh
    if part < 2:
        z = z + w["embedding_bias"][block * Z : (block + 1) * Z]
    return w["generator"][:, block * H : (block + 1) * H].T @ z


def hyper_lstm(x, mask, w, reverse):
    """One text: the states by time and the last, every gate by itself."""
    h, c, hh, cc = np.zeros(H), np.zeros(H), np.zeros(M), np.zeros(M)
    times = [t for t in range(len(mask)) if mask[t]]
    found = np.full((len(mask), H), np.nan)
    for t in times[::-1] if reverse else times:
        # Weights lie as [rows, gates x columns]; gates in the order i f o g.
        a = x[t] @ w["hyper_kernel"] + w["hyper_bias"]
        a = a + np.concatenate([hh, h]) @ w["hyper_recurrent"]
        hh, cc = update(np.split(a, 4), cc)
        pre = []
        for y in range(4):
            gate = slice(y * H, (y + 1) * H)
            pre.append(
                generated(w, 0, y, hh) * (w["recurrent"][:, gate].T @ h)
                + generated(w, 1, y, hh) * (w["kernel"][:, gate].T @ x[t])
                + generated(w, 2, y, hh)
                + w["bias"][gate]
            )
        h, c = update(pre, c)
        found[t] = h
    return found, h


def reference(values, x, mask, tasks, reverse=False):
    """Summaries [G, B, H] and sequences [G, B, T, H], NaN where masked."""
    sequence = np.zeros((*mask.shape, H))
    summary = np.zeros((*mask.shape[:2], H))
    for g, task in enumerate(tasks):
        stacked = values["bias"].ndim == 2
        own = {n: v[task] if stacked else v for n, v in values.items()}
        for b in range(mask.shape[1]):
            sequence[g, b], summary[g, b] = hyper_lstm(
                x[g, b], mask[g, b], own, reverse
            )
    return summary, sequence


@pytest.mark.by_default("3-task1-False")
@pytest.mark.parametrize(
    "tasks, task, reverse", [(0, [0, 1], True), (3, [2, 0, 2], False)]
)
def test_outputs_and_gradients_are_the_papers(tasks, task, reverse):
    layer = made(reverse, tasks)
    assert len(layer.trainable_variables) == 9
    check_equations(
        layer,
        task,
        lambda weights, x, mask: reference(weights, x, mask, task, reverse),
        atol=2e-6,
    )


@pytest.mark.extended
@pytest.mark.parametrize("tasks", [pytest.param(0, marks=pytest.mark.slow), 3])
def test_jit_and_shards_change_nothing(tasks):
    layer = made(tasks=tasks)
    x, mask = make_data(2)
    cotangents = np.ones([2, 4, H], "float32"), 0.5

    def run(jit, shards, training=True):
        with recurrence.options(jit=jit, shards=shards):
            return outputs_and_gradients(
                layer, x, mask, [2, 0], cotangents, training
            )

    expected = tf.nest.flatten(run(False, 1))
    for jit, shards, training in [(True, 2, True), (False, 2, False)]:
        got = tf.nest.flatten(run(jit, shards, training))
        for a, b in zip(got, expected):
            np.testing.assert_allclose(a, b, atol=2e-6)


def test_padding_changes_nothing():
    check_padding(made(reverse=True))


@pytest.mark.extended
def test_rows_and_batches_without_tokens():
    layer = made(tasks=3)
    cotangents = np.ones([1, 4, H], "float32"), 1.0
    for length in (LENGTH, 0):
        x, mask = make_data(1, length=length)
        summary, _, gradients = outputs_and_gradients(
            layer, x, np.zeros_like(mask), [0], cotangents
        )
        assert not np.any(summary)
        assert not any(np.any(g) for g in gradients)


@pytest.mark.extended
def test_one_trace_serves_all_lengths_tasks_and_batches():
    layer = made()
    traces = []

    @tf.function(
        autograph=False,
        input_signature=[
            tf.TensorSpec([None, None, None, FEATURES]),
            tf.TensorSpec([None, None, None], tf.bool),
            tf.TensorSpec([None], tf.int32),
        ],
    )
    def run(x, mask, task):
        traces.append(1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = layer(x, mask, task, training=True)
            total = tf.reduce_sum(result.state["hidden"])
        return total, tape.gradient(total, x)

    for length, task in [(5, [0]), (7, [1, 2])]:
        x, mask = make_data(len(task), length=length)
        total, gradient = run(x, mask, task)
        expected, _ = reference(weights_of(layer), x.astype(float), mask, task)
        np.testing.assert_allclose(total, expected.sum(), atol=1e-5)
        assert np.any(gradient)
    assert len(traces) == 1


def test_it_starts_near_an_lstm():
    layer = HyperLSTM(40, 20, 16, name="l")
    layer.build((None, None, None, FEATURES))
    modulation, offset = layer._modulation(lambda w: w.value)
    scales, bias = np.split(np.array(offset), [8 * 40])
    assert abs(scales.mean() - 1) < 0.15
    i, f, o, g = np.split(bias, 4)
    assert np.all(f == 1) and not np.any([i, o, g])
    assert modulation.shape == (20, 12 * 40)


@pytest.mark.extended
def test_as_a_layer():
    d, h, m, z = FEATURES, 3, 2, 5
    x, mask = make_data(2)
    hyper = 4 * m * (d + h + m + 1)
    main = 4 * h * (d + h)
    embeddings = 12 * z * m + 8 * z
    generators = 12 * h * z + 4 * h
    run_layer_test(
        lambda: HyperLSTM(h, m, z, tasks=3, name="l", init=UNIFORM),
        (tf.constant(x), tf.constant(mask), tf.constant([2, 0])),
        parameters=3 * (hyper + main + embeddings + generators),
        output_shapes=(
            {
                "hidden": (2, 4, h),
                "memory": (2, 4, h),
                "hyper_hidden": (2, 4, m),
                "hyper_memory": (2, 4, m),
            },
            {},
            {},
        ),
        call={"training": True},
    )


def test_only_stacked_weights_are_private():
    for tasks in (0, 3):
        layer = made(tasks=tasks)
        assert {marks_of(w).is_private for w in layer.weights} == {bool(tasks)}


@pytest.mark.extended
def test_states_are_float32_under_a_mixed_policy():
    x, mask = make_data(1)
    cotangents = np.ones([1, 4, H], "float32"), 1.0
    expected = outputs_and_gradients(made(), x, mask, [1], cotangents)
    mixed = made(dtype="mixed_bfloat16")
    got = outputs_and_gradients(mixed, x, mask, [1], cotangents)
    assert got[0].dtype == tf.float32
    np.testing.assert_allclose(got[0], expected[0], atol=0.05)
    assert np.any(np.array(got[0]) != np.array(expected[0]))
