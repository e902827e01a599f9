"""MELSTM and LocalGlobalLSTM against a NumPy float64 reference."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent import external_memory, recurrence, step_plan
from tests.layers import memory_reference as reference
from tests.layers.layer_testing import assert_gradient, weights_of
from tests.layers.memory_testing import (
    FEATURES,
    LENGTH,
    ONES,
    SLOTS,
    UNITS,
    WIDTH,
    made,
    make_data,
    outputs_and_gradients,
)

pytestmark = pytest.mark.usefixtures("without_jit")


@pytest.mark.by_default("me_lstm-*", "private-*", "arc_i-*", "*-mlp-True")
@pytest.mark.parametrize(
    "model, align, reverse",
    [
        ("me_lstm", "mlp", False),
        ("private", "cosine", True),
        ("arc_i", "mlp", True),
        ("arc_ii", "cosine", False),
        ("arc_ii", "mlp", True),
    ],
)
def test_outputs_and_gradients_are_the_papers(model, align, reverse):
    layer = made(model, align=align, reverse=reverse)
    # Unlike groups in one direction, a single one in the other.
    task, batch = ([1] if reverse else [2, 0]), 4
    x, mask = make_data(len(task), batch)
    draw = np.random.default_rng(1)
    factors = (
        draw.normal(size=(len(task), batch, UNITS)),
        draw.normal(size=(len(task), batch, LENGTH, UNITS)),
    )
    result, gradients = outputs_and_gradients(
        layer, x, mask, task, [f.astype("float32") for f in factors]
    )
    values, x64 = weights_of(layer), x.astype(np.float64)
    series, last = reference.run(values, x64, mask, task, reverse)
    found = result.emitted | {"h": result.sequences["hidden"]}
    assert set(found) == set(series)
    for name, expected in series.items():
        np.testing.assert_allclose(
            np.array(found[name])[mask], expected[mask], atol=1e-6
        )
    state = result.state | {"h": result.state["hidden"]}
    for name, expected in last.items():
        np.testing.assert_allclose(state[name], expected, atol=1e-6)

    def total():
        series, last = reference.run(values, x64, mask, task, reverse)
        return np.sum(last["h"] * factors[0]) + np.nansum(
            series["h"] * factors[1]
        )

    names = [v.name for v in layer.trainable_variables]
    assert set(names) == set(values)
    for name, gradient in zip(["x", *names], gradients):
        value = x64 if name == "x" else values[name]
        assert_gradient(gradient, total, value, name)
        assert np.max(np.abs(gradient)) > 1e-4, name


@pytest.mark.by_default("options0-private")
@pytest.mark.parametrize("model", ["private", "arc_ii"])
@pytest.mark.parametrize(
    "options",
    [
        (False, 2, False),
        # Memories that are compiled learn in test_memory_schemes.py.
        pytest.param((True, 2, True), marks=pytest.mark.slow),
    ],
)
def test_jit_shards_and_keeping_change_nothing(model, options):
    layer = made(model)
    x, mask = make_data(2)

    def run(jit, shards, training=True):
        with recurrence.options(jit=jit, shards=shards):
            return outputs_and_gradients(layer, x, mask, [2, 0], ONES, training)

    expected = tf.nest.flatten(run(False, 1))
    for a, b in zip(tf.nest.flatten(run(*options)), expected):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    "model, jit, align",
    [
        ("arc_i", False, "mlp"),
        pytest.param("arc_ii", False, "cosine", marks=pytest.mark.slow),
        # Compiled, an LSTM does it in test_recurrent_layers.py.
        pytest.param("arc_i", True, "cosine", marks=pytest.mark.slow),
    ],
)
def test_batch_and_groups_may_be_unknown_when_traced(model, jit, align):
    layer = made(model, align=align)

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
        _, last = reference.run(weights_of(layer), x.astype(float), mask, task)
        np.testing.assert_allclose(summary, last["h"], atol=1e-6)
        assert gradient.shape == x.shape
        assert np.all(np.isfinite(gradient))


@pytest.mark.extended
@pytest.mark.parametrize(
    "model, reverse",
    [
        ("me_lstm", False),
        ("me_lstm", True),
        ("arc_ii", False),
        pytest.param("arc_ii", True, marks=pytest.mark.slow),
    ],
)
def test_padding_changes_nothing(model, reverse):
    layer = made(model, reverse=reverse)
    x, mask = make_data(1)
    short, gradients = outputs_and_gradients(layer, x, mask, [1], ONES)
    longer = np.pad(x, [(0, 0), (0, 0), (0, 6), (0, 0)], constant_values=9)
    wider = np.pad(mask, [(0, 0), (0, 0), (0, 6)])
    long, others = outputs_and_gradients(layer, longer, wider, [1], ONES)
    for name, value in short.state.items():
        np.testing.assert_allclose(long.state[name], value, atol=1e-6)
    for a, b in zip(others[1:], gradients[1:]):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert not np.any(np.array(others[0])[:, :, LENGTH:])


@pytest.mark.by_default("me_lstm")
@pytest.mark.parametrize("model", ["me_lstm", "arc_ii"])
def test_texts_and_batches_without_tokens(model):
    layer = made(model)
    for length in (LENGTH, 0):
        x, mask = make_data(1, length=length)
        result, gradients = outputs_and_gradients(
            layer, x, np.zeros_like(mask), [0], ONES
        )
        assert not np.any(result.state["hidden"])
        assert result.sequences["hidden"].shape == (1, 4, length, UNITS)
        assert not any(np.any(g) for g in gradients)
        for memory in layer.memories:
            begin = np.array(memory.initial).reshape(-1, SLOTS, WIDTH)[0]
            kept = np.array(result.state[memory.role])
            np.testing.assert_array_equal(kept, np.tile(begin, (1, 4, 1, 1)))


@pytest.mark.by_default("me_lstm")
@pytest.mark.parametrize("model", ["me_lstm", "arc_ii"])
def test_first_keys_of_zero_length_have_finite_gradients(model):
    """Glorot's biases are zero, so that the first keys are, too."""
    layer = made(model, init=None)
    x, mask = make_data(1)
    result, gradients = outputs_and_gradients(layer, x, mask, [1], ONES)
    alpha = np.array(result.emitted["alpha"])
    np.testing.assert_allclose(alpha[:, :, 0], 1 / SLOTS, atol=1e-6)
    assert np.ptp(alpha[0, 1, -1]) > 1e-3
    for gradient in gradients:
        assert np.all(np.isfinite(gradient)) and np.max(gradient) < 100


def test_cosine_of_zero_vectors_is_zero():
    memory = tf.constant([[3.0, 4.0], [0.0, 0.0], [1e-9, 0.0]])
    for key, expected in [([6.0, 8.0], [1.0, 0.0, 0.0]), ([0.0, 0.0], [0] * 3)]:
        key = tf.constant(key)
        with tf.GradientTape() as tape:
            tape.watch([memory, key])
            found = external_memory.cosine(memory, key)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        for gradient in tape.gradient(found, [memory, key]):
            assert np.all(np.abs(gradient) < 1)


@pytest.mark.by_default("arc_ii")
@pytest.mark.parametrize("model", ["arc_i", "arc_ii"])
def test_a_batch_of_one_task_moves_its_slices_and_what_is_shared(model):
    layer = made(model)
    x, mask = make_data(1)
    _, gradients = outputs_and_gradients(layer, x, mask, [1], ONES)
    for weight, gradient in zip(layer.trainable_variables, gradients[1:]):
        if marks_of(weight).is_private:
            touched = np.any(gradient, tuple(range(1, gradient.shape.rank)))
            np.testing.assert_array_equal(touched, [False, True, False])
        else:
            assert np.any(gradient)


@pytest.mark.by_default("arc_ii")
@pytest.mark.parametrize("model", ["arc_i", "arc_ii"])
def test_rows_and_groups_do_not_meet(model):
    """A memory never passes from one text to another."""
    layer = made(model)
    x, mask = make_data(2)
    both = layer(x, mask, tf.constant([2, 1])).state["hidden"]
    alone = tf.function(
        lambda *batch: layer(*batch).state["hidden"], autograph=False
    )
    for group, task in enumerate([2, 1]):
        for row in range(4):
            place = np.s_[group : group + 1, row : row + 1]
            found = alone(
                tf.constant(x[place]),
                tf.constant(mask[place]),
                tf.constant([task]),
            )
            np.testing.assert_allclose(found[0, 0], both[group, row], atol=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize(
    "align, policy",
    [
        ("cosine", "mixed_bfloat16"),
        pytest.param("mlp", "mixed_bfloat16", marks=pytest.mark.slow),
        pytest.param("cosine", "float16", marks=pytest.mark.slow),
        pytest.param("mlp", "float16", marks=pytest.mark.slow),
    ],
)
def test_states_are_float32_under_mixed_policies(align, policy):
    x, mask = make_data(1)
    full = made("arc_ii", align=align)
    mixed = made("arc_ii", align=align, dtype=policy)
    expected, wanted = outputs_and_gradients(full, x, mask, [1], ONES)
    got, gradients = outputs_and_gradients(mixed, x, mask, [1], ONES)
    for name, value in got.state.items():
        assert value.dtype == tf.float32
        np.testing.assert_allclose(value, expected.state[name], atol=0.03)
    assert np.any(got.state["hidden"] != expected.state["hidden"])
    for a, b in zip(gradients, wanted):
        assert a.dtype == tf.float32
        np.testing.assert_allclose(a, b, atol=0.15)


def test_the_backward_loop_keeps_one_stack_a_memory():
    """Everything else of a memory's size is computed again."""
    layer = made("arc_ii", tasks=0)
    x, mask = (tf.convert_to_tensor(a) for a in make_data(1))
    weights, constants = layer._parameters(x, tf.constant([0]))
    spec = lambda t: tf.TensorSpec(t.shape, t.dtype)  # noqa: E731
    plan = step_plan.plan(
        layer._step,
        *({k: spec(v) for k, v in d.items()} for d in (weights, constants)),
        {"gates": tf.TensorSpec([1, 4, 4 * UNITS])},
        {k: spec(v) for k, v in layer._start(x, tf.constant([0])).items()},
        tf.TensorSpec([1, 4], tf.bool),
    )
    kept = [plan.outputs[n] for n in plan.kept_outputs]
    assert max(spec.shape.rank for spec in kept) == 3
    assert max(spec.shape.rank for spec in plan.written.values()) == 3
    assert {"local", "global"} <= set(plan.kept_state)
