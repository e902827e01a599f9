"""Shared and private LSTMs, joined, against the NumPy float64 LSTM."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.recurrent.shared_private import (
    ParallelSharedPrivate,
    SerialSharedPrivate,
)
from tests.layers import numpy_reference as reference
from tests.layers.layer_testing import assert_gradient, run_layer_test
from tests.layers.recurrent_testing import (
    FEATURES,
    LENGTH,
    UNIFORM,
    check_padding,
    make_data,
    outputs_and_gradients,
)

pytestmark = pytest.mark.usefixtures("without_jit")

H = 3
KINDS = ["parallel", "shared", "both"]


def make_layer(kind, reverse=False, **options):
    options |= {"reverse": reverse, "init": UNIFORM, "name": "l"}
    if kind == "parallel":
        layer = ParallelSharedPrivate(H, tasks=3, **options)
    else:
        layer = SerialSharedPrivate(H, 3, private_input=kind, **options)
    layer.build((None, None, None, FEATURES))
    return layer


# One of each kind for all tests: a layer plans its loops when it first runs.
made = functools.cache(make_layer)


def values_of(layer):
    """float64 values by half and name."""
    return {
        half: {w.name: np.array(w, np.float64) for w in part.weights}
        for half, part in (("shared", layer.shared), ("private", layer.private))
    }


def forward(kind, values, x, mask, task, reverse):
    """Summaries and sequences (NaN where masked) as the papers write them."""
    options = (mask, task, reverse)
    s_last, s = reference.run("lstm", values["shared"], x, *options)
    if kind == "parallel":
        p_last, p = reference.run("lstm", values["private"], x, *options)
        last = np.concatenate([s_last, p_last], -1)
        return last, np.concatenate([s, p], -1)
    read = s if kind == "shared" else np.concatenate([x, s], -1)
    return reference.run("lstm", values["private"], read, *options)


@pytest.mark.by_default("both-task2-True", "shared-task1-False")
@pytest.mark.parametrize(
    "kind, task, reverse",
    [
        ("parallel", [2, 0], True),
        ("shared", [1], False),
        ("both", [2, 0], True),
    ],
)
def test_outputs_and_gradients_are_the_papers(kind, task, reverse):
    layer = made(kind, reverse)
    x, mask = make_data(len(task), 2)
    draw = np.random.default_rng(1)
    size = 2 * H if kind == "parallel" else H
    d_summary = draw.normal(size=(len(task), 2, size))
    d_sequence = draw.normal(size=(len(task), 2, LENGTH, size))
    summary, sequence, gradients = outputs_and_gradients(
        layer,
        x,
        mask,
        task,
        (d_summary.astype("float32"), d_sequence.astype("float32")),
    )
    values, x64 = values_of(layer), x.astype(np.float64)
    arguments = (kind, values, x64, mask, task, reverse)
    last, steps = forward(*arguments)
    np.testing.assert_allclose(summary, last, atol=1e-6)
    np.testing.assert_allclose(np.array(sequence)[mask], steps[mask], atol=1e-6)

    def total():
        last, steps = forward(*arguments)
        return np.sum(last * d_summary) + np.nansum(steps * d_sequence)

    found = [("x", x64)]
    for part in values.values():
        found += list(part.items())
    assert len(gradients) == len(found) == 7
    for (name, value), gradient in zip(found, gradients):
        assert_gradient(gradient, total, value, name)


# Compiled, both kinds learn in tests/models/test_shared_private.py.
@pytest.mark.by_default("both-False")
@pytest.mark.parametrize(
    "jit", [False, pytest.param(True, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", ["parallel", "both"])
def test_jit_and_shards_change_nothing(kind, jit):
    layer = made(kind)
    x, mask = make_data(2)
    cotangents = 1.0, 0.5

    def run(jit, shards):
        with recurrence.options(jit=jit, shards=shards):
            return tf.nest.flatten(
                outputs_and_gradients(layer, x, mask, [2, 0], cotangents)
            )

    for a, b in zip(run(jit, 2), run(False, 1)):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.by_default("parallel-False")
@pytest.mark.parametrize("kind, reverse", [("parallel", False), ("both", True)])
def test_padding_changes_nothing(kind, reverse):
    check_padding(made(kind, reverse))


@pytest.mark.parametrize(
    "kind, length", [("parallel", 0), ("shared", LENGTH), ("both", 0)]
)
def test_rows_and_batches_without_tokens(kind, length):
    layer = made(kind)
    x, mask = make_data(1, length=length)
    summary, sequence, gradients = outputs_and_gradients(
        layer, x, np.zeros_like(mask), [0], (1.0, 1.0)
    )
    assert not np.any(summary) and sequence.shape[2] == length
    assert not any(np.any(g) for g in gradients)


@pytest.mark.parametrize("kind", KINDS)
def test_states_name_the_shared_half(kind):
    layer = made(kind)
    x, mask = make_data(2)
    state = layer(x, mask, tf.constant([0, 2])).state
    shared = layer.shared(x, mask, tf.constant([0, 2])).state["hidden"]
    np.testing.assert_array_equal(state["shared"], shared)
    if kind == "parallel":
        halves = tf.concat([state["shared"], state["private"]], -1)
        np.testing.assert_array_equal(state["hidden"], halves)


def test_directions_and_halves_start_from_different_weights():
    layer = made("parallel")
    other = ParallelSharedPrivate(H, tasks=3, init=UNIFORM, name="m")
    other.build((None, None, None, FEATURES))
    kernels = [
        layer.shared.kernel,
        other.shared.kernel,
        layer.private.kernel[0],
        layer.private.kernel[1],
    ]
    for n, a in enumerate(kernels):
        for b in kernels[n + 1 :]:
            assert not np.any(np.array(a) == np.array(b))


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
def test_as_a_layer(kind):
    d, h = FEATURES, H
    x, mask = make_data(2)
    reads = {"parallel": d, "shared": h, "both": d + h}[kind]
    size = 2 * h if kind == "parallel" else h
    state = {"hidden": (2, 4, size)}
    halves = ["private", "shared"]
    if kind != "parallel":
        state["memory"] = (2, 4, h)
        halves = ["shared"]
    state |= dict.fromkeys(halves, (2, 4, h))
    layer = run_layer_test(
        lambda: make_layer(kind),
        (tf.constant(x), tf.constant(mask), tf.constant([2, 0])),
        parameters=4 * h * (d + h + 1) + 3 * 4 * h * (reads + h + 1),
        output_shapes=(state, {"hidden": (2, 4, LENGTH, size)}, {}),
        call={"training": True, "sequence": True},
    )
    private = {w.path for w in layer.private.weights}
    assert private == {w.path for w in layer.weights if marks_of(w).is_private}


def test_wrong_options():
    with pytest.raises(ConfigError, match="did you mean 'shared'"):
        SerialSharedPrivate(3, 2, private_input="share")
    for make in (ParallelSharedPrivate, SerialSharedPrivate):
        with pytest.raises(ConfigError, match="units must be .* got 0"):
            make(0, 2)
        with pytest.raises(ConfigError, match="tasks must be .* got 0"):
            make(3, 0)
