"""LSTM and MetaLSTM against NumPy float64 references from the paper."""

import functools
from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.recurrent.gru import GRU
from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM
from mtl_tf.layers.recurrent.shared_private import ParallelSharedPrivate
from tests.layers import numpy_reference as reference
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


def make_layer(kind, reverse=False, **options):
    if kind == "lstm":
        options = {"units": 3, "tasks": 3} | options
        layer = LSTM(reverse=reverse, init=UNIFORM, name="l", **options)
    else:
        options = {"tasks": 3} | options
        layer = MetaLSTM(
            3, 2, 2, reverse=reverse, init=UNIFORM, name="l", **options
        )
    layer.build((None, None, None, FEATURES))
    return layer


# One of each kind for all tests: a layer plans its loops when it first runs.
made = functools.cache(make_layer)


# Unlike groups in one direction, a single one in the other.
@pytest.mark.by_default("lstm-task0-False", "lstm-task1-True")
@pytest.mark.parametrize("task, reverse", [([2, 0, 2], False), ([1], True)])
@pytest.mark.parametrize("kind", ["lstm", "meta_lstm"])
def test_outputs_and_gradients_are_the_papers(kind, task, reverse):
    check_equations(
        made(kind, reverse),
        task,
        lambda weights, x, mask: reference.run(
            kind, weights, x, mask, task, reverse
        ),
    )


@pytest.mark.extended
@pytest.mark.parametrize(
    "kind, options",
    [
        ("lstm", [(True, 2, True), (False, 3, True), (False, 2, False)]),
        ("meta_lstm", [(False, 2, False)]),
        pytest.param("lstm", [(True, 1, False)], marks=pytest.mark.slow),
        # Compiled, it learns in tests/models/test_multi_task.py.
        pytest.param("meta_lstm", [(True, 2, True)], marks=pytest.mark.slow),
        pytest.param("meta_lstm", [(True, 1, False)], marks=pytest.mark.slow),
    ],
)
def test_jit_shards_and_keeping_change_nothing(kind, options):
    layer = made(kind)
    task = [2, 0]
    x, mask = make_data(2)
    cotangents = np.ones([2, 4, 3], "float32"), 0.5

    def run(jit, shards, training):
        with recurrence.options(jit=jit, shards=shards):
            return outputs_and_gradients(
                layer, x, mask, task, cotangents, training
            )

    expected = tf.nest.flatten(run(False, 1, True))
    for each in options:
        got = tf.nest.flatten(run(*each))
        for a, b in zip(got, expected):
            np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    "kind", ["lstm", pytest.param("meta_lstm", marks=pytest.mark.slow)]
)
def test_a_whole_step_compiles(kind):
    """As Keras does it on GPUs."""
    layer, (x, mask) = made(kind), make_data(2)
    cotangents = np.ones([2, 4, 3], "float32"), 0.5

    def step():
        return outputs_and_gradients(layer, x, mask, [2, 0], cotangents)

    expected = tf.nest.flatten(step())
    with recurrence.options(jit=True):
        got = tf.nest.flatten(
            tf.function(step, jit_compile=True, autograph=False)()
        )
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.by_default("lstm")
@pytest.mark.parametrize("kind", ["lstm", "meta_lstm"])
def test_one_trace_serves_all_lengths_and_tasks(kind):
    layer = made(kind)
    traces = []

    @tf.function(
        autograph=False,
        input_signature=[
            tf.TensorSpec([1, 4, None, FEATURES]),
            tf.TensorSpec([1, 4, None], tf.bool),
            tf.TensorSpec([1], tf.int32),
        ],
    )
    def run(x, mask, task):
        traces.append(1)
        with tf.GradientTape() as tape:
            result = layer(x, mask, task, training=True)
            total = tf.reduce_sum(result.state["hidden"])
        return total, tape.gradient(total, layer.kernel_of_test)

    layer.kernel_of_test = layer.trainable_variables[0].value
    for length, task in [(5, 0), (7, 1), (3, 2)]:
        x, mask = make_data(1, length=length)
        total, gradient = run(x, mask, [task])
        expected, _ = reference.run(
            kind, weights_of(layer), x.astype(float), mask, [task]
        )
        np.testing.assert_allclose(total, expected.sum(), atol=1e-5)
        assert np.any(tf.convert_to_tensor(gradient) != 0)
    assert len(traces) == 1


@pytest.mark.extended
@pytest.mark.parametrize("kind, jit", [("lstm", True), ("meta_lstm", False)])
def test_batch_and_groups_may_be_unknown_when_traced(kind, jit):
    layer = made(kind)

    @tf.function(
        autograph=False,
        input_signature=[
            tf.TensorSpec([None, None, None, FEATURES]),
            tf.TensorSpec([None, None, None], tf.bool),
            tf.TensorSpec([None], tf.int32),
        ],
    )
    def run(x, mask, task):
        with recurrence.options(jit=jit), tf.GradientTape() as tape:
            tape.watch(x)
            result = layer(x, mask, task, training=True, sequence=True)
            total = tf.reduce_sum(result.state["hidden"])
        return result.state["hidden"], tape.gradient(total, x)

    for task in ([1], [2, 0, 1]):
        x, mask = make_data(len(task))
        summary, gradient = run(x, mask, task)
        expected, _ = reference.run(
            kind, weights_of(layer), x.astype(float), mask, task
        )
        np.testing.assert_allclose(summary, expected, atol=1e-6)
        assert gradient.shape == x.shape


@pytest.mark.by_default("lstm-True")
@pytest.mark.parametrize(
    "kind, reverse", [("lstm", True), ("meta_lstm", False)]
)
def test_padding_changes_nothing(kind, reverse):
    check_padding(made(kind, reverse))


@pytest.mark.by_default("meta_lstm-False")
@pytest.mark.parametrize("kind, jit", [("lstm", True), ("meta_lstm", False)])
def test_rows_and_batches_without_tokens(kind, jit):
    layer = made(kind)
    cotangents = np.ones([1, 4, 3], "float32"), 1.0
    with recurrence.options(jit=jit):
        x, mask = make_data(1)
        summary, _, gradients = outputs_and_gradients(
            layer, x, np.zeros_like(mask), [0], cotangents
        )
        assert not np.any(summary)
        assert not any(np.any(g) for g in gradients)
        x, mask = make_data(1, length=0)
        summary, sequence, gradients = outputs_and_gradients(
            layer, x, mask, [0], cotangents
        )
    assert not np.any(summary)
    assert sequence.shape == (1, 4, 0, 3)
    assert not any(np.any(g) for g in gradients)


@pytest.mark.parametrize("kind", ["lstm", "meta_lstm"])
def test_tasks_own_their_weights(kind):
    layer = made(kind)
    x, mask = make_data(1)
    summaries = [
        layer(x, mask, tf.constant([t])).state["hidden"] for t in range(3)
    ]
    assert not np.allclose(summaries[0], summaries[1])
    both = layer(
        np.concatenate([x, x]),
        np.concatenate([mask, mask]),
        tf.constant([2, 1]),
    ).state["hidden"]
    np.testing.assert_allclose(both[0], summaries[2][0], atol=1e-6)
    np.testing.assert_allclose(both[1], summaries[1][0], atol=1e-6)


def test_shared_lstm_ignores_the_task():
    layer = made("lstm", tasks=0)
    x, mask = make_data(2)
    one = layer(x, mask, tf.constant([0, 1])).state["hidden"]
    other = layer(x, mask, tf.constant([2, 2])).state["hidden"]
    np.testing.assert_array_equal(one, other)
    expected, _ = reference.run(
        "lstm", weights_of(layer), x.astype(float), mask, [0, 0]
    )
    np.testing.assert_allclose(one, expected, atol=1e-6)


def test_meta_vectors_are_emitted():
    layer = made("meta_lstm")
    x, mask = make_data(1)
    result = layer(x, mask, tf.constant([1]), inspect=True)
    z = result.emitted["meta_vector"]
    assert z.shape == (1, 4, LENGTH, 2)
    values = weights_of(layer)
    # The first meta step starts from zeros, so z_1 needs no recurrence.
    a = x[0, 1, 0] @ values["meta_kernel"] + values["meta_bias"]
    i, _, o, g = np.split(a, 4)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    hidden = sigmoid(o) * np.tanh(sigmoid(i) * np.tanh(g))
    expected = hidden @ values["vector_kernel"]
    np.testing.assert_allclose(z[0, 1, 0], expected, atol=1e-6)


@pytest.mark.by_default("lstm-float16")
@pytest.mark.parametrize(
    "kind, policy", [("lstm", "float16"), ("meta_lstm", "mixed_bfloat16")]
)
def test_states_are_float32_under_mixed_policies(kind, policy):
    x, mask = make_data(1)
    full = made(kind)
    mixed = made(kind, dtype=policy)
    cotangents = np.ones([1, 4, 3], "float32"), 1.0
    expected = outputs_and_gradients(full, x, mask, [1], cotangents)
    got = outputs_and_gradients(mixed, x, mask, [1], cotangents)
    assert got[0].dtype == got[1].dtype == tf.float32
    np.testing.assert_allclose(got[0], expected[0], atol=0.03)
    assert np.any(np.array(got[0]) != np.array(expected[0]))
    for a, b in zip(got[2], expected[2]):
        assert a.dtype == tf.float32
        np.testing.assert_allclose(a, b, atol=0.1)


def _arguments():
    x, mask = make_data(2)
    return tf.constant(x), tf.constant(mask), tf.constant([2, 0])


def test_lstm_as_a_layer():
    run_layer_test(
        lambda: LSTM(3, tasks=3, reverse=True, forget_bias=1.0, name="l"),
        _arguments(),
        parameters=3 * 4 * 3 * (4 + 3 + 1),
        output_shapes=(
            {"hidden": (2, 4, 3), "memory": (2, 4, 3)},
            {"hidden": (2, 4, 5, 3)},
            {},
        ),
        call={"training": True, "sequence": True},
    )


@pytest.mark.extended
def test_meta_lstm_as_a_layer():
    d, h, m, z = 4, 3, 2, 5
    run_layer_test(
        lambda: MetaLSTM(h, m, z, tasks=3, name="l", init=UNIFORM),
        _arguments(),
        parameters=4 * m * (d + h + m + 1)
        + z * m
        + 3 * (12 * h * z + 4 * d * z),
        output_shapes=(
            {
                "hidden": (2, 4, h),
                "memory": (2, 4, h),
                "meta_hidden": (2, 4, m),
                "meta_memory": (2, 4, m),
            },
            {},
            {},
        ),
        call={"training": True},
    )


def test_sizes_must_be_positive_integers():
    """Which values are none is tested with `core.checks`."""
    for field in ("units", "meta_units", "meta_vector", "tasks"):
        sizes = dict.fromkeys(("units", "meta_units", "meta_vector"), 2)
        with pytest.raises(ConfigError, match=f"^{field} must be"):
            MetaLSTM(**(sizes | {field: -3}))


@pytest.mark.parametrize(
    "make",
    [
        partial(LSTM, 2),
        partial(GRU, 2),
        partial(HyperLSTM, 2, 2, 2),
        partial(MetaLSTM, 2, 2, 2),
        partial(MELSTM, 2, 2, 2),
        partial(ParallelSharedPrivate, 2, 2),
    ],
)
def test_a_direction_is_true_or_false(make):
    with pytest.raises(ConfigError, match="^reverse must be True or False"):
        make(reverse="false")


@pytest.mark.parametrize(
    "cores, batch, shards",
    [(2, 16, 2), (6, 16, 4), (32, 16, 16), (4, 7, 1), (4, 0, 1), (4, None, 1)],
)
def test_as_many_equal_shards_as_there_are_cores(
    monkeypatch, cores, batch, shards
):
    monkeypatch.setattr(recurrence.machine, "cores", lambda: cores)
    token = recurrence._OPTIONS.set(recurrence.Options())
    try:
        assert recurrence._shards(batch) == shards
    finally:
        recurrence._OPTIONS.reset(token)
