"""The convolution bank and pooling against a NumPy float64 reference."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers import pooling
from mtl_tf.layers.convolution import ConvolutionBank
from tests.layers import convolution_reference as reference
from tests.layers.layer_testing import finite_differences, run_layer_test

FEATURES, LENGTH, FILTERS = 3, 5, 2
WIDTHS = [1, 2, 3, 7]  # even ones, and one wider than any text
TASKS = [[1], [2, 0, 2]]  # one group, and groups that share a task
UNIFORM = {"name": "uniform", "range": 0.7}


def make_bank(tasks=3, **options):
    bank = ConvolutionBank(
        FILTERS, WIDTHS, tasks, init=UNIFORM, name="bank", **options
    )
    bank.build((None, None, None, FEATURES))
    return bank


def make_data(groups, batch=4, length=LENGTH, seed=0):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(groups, batch, length, FEATURES)).astype("float32")
    lengths = draw.integers(1, length + 1, (groups, batch))
    lengths[0, :3] = 0, length, 1
    return x, np.arange(length) < lengths[..., None]


def sequence_and_summary(bank, x, mask, task):
    mask = tf.convert_to_tensor(mask)
    before = bank(x, mask, tf.convert_to_tensor(task))
    sequence = tf.where(mask[..., None], tf.tanh(before), 0)
    return sequence, tf.tanh(pooling.max_over_time(before, mask))


@pytest.mark.by_default("task0")
@pytest.mark.parametrize("task", TASKS)
def test_outputs_and_gradients_are_the_papers(task):
    bank = make_bank()
    x, mask = make_data(len(task))
    draw = np.random.default_rng(1)
    outer = [
        draw.normal(size=(len(task), 4, LENGTH, bank.units)),
        draw.normal(size=(len(task), 4, bank.units)),
    ]
    variable = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(variable)
        got = sequence_and_summary(bank, variable, mask, task)
        total = sum(
            tf.reduce_sum(a * b.astype("float32")) for a, b in zip(got, outer)
        )
    sources = [variable, *bank.trainable_variables]
    gradients = tape.gradient(total, sources)
    values = {w.name: np.array(w, np.float64) for w in bank.weights}
    x64 = x.astype(np.float64)

    def run():
        return reference.run(values, x64, mask, task, WIDTHS)

    for a, b in zip(got, run()):
        np.testing.assert_allclose(a, b, atol=1e-5)
    names = ["x", *(v.name for v in bank.trainable_variables)]
    for name, gradient in zip(names, gradients):
        wanted = finite_differences(
            lambda: sum(np.sum(a * b) for a, b in zip(run(), outer)),
            x64 if name == "x" else values[name],
        )
        np.testing.assert_allclose(
            tf.convert_to_tensor(gradient), wanted, atol=1e-5, err_msg=name
        )
    # Absent text and absent tasks get nothing, not even a NaN.
    dx = np.array(gradients[0])
    assert not np.any(dx[~mask]) and np.any(dx[mask])


@pytest.mark.parametrize("task", TASKS)
def test_layer(task):
    x, mask = make_data(len(task))
    run_layer_test(
        lambda: ConvolutionBank(FILTERS, WIDTHS, 3, init=UNIFORM, name="bank"),
        (tf.constant(x), tf.constant(mask), tf.constant(task)),
        parameters=3 * FILTERS * sum(w * FEATURES + 1 for w in WIDTHS),
        output_shapes=(len(task), 4, LENGTH, len(WIDTHS) * FILTERS),
    )


@pytest.mark.parametrize("task", TASKS)
def test_padding_changes_nothing_whatever_it_holds(task):
    bank = make_bank()
    x, mask = make_data(len(task))
    short = sequence_and_summary(bank, x, mask, task)
    longer = np.pad(x, [(0, 0), (0, 0), (0, 4), (0, 0)])
    longer_mask = np.pad(mask, [(0, 0), (0, 0), (0, 4)])
    longer[~longer_mask] = np.inf
    padded = sequence_and_summary(bank, longer, longer_mask, task)
    np.testing.assert_allclose(
        padded[0][:, :, :LENGTH], short[0], atol=1e-6, rtol=0
    )
    assert not np.any(padded[0][:, :, LENGTH:])
    np.testing.assert_allclose(padded[1], short[1], atol=1e-6, rtol=0)
    assert not np.any(padded[1][0, 0])


def test_groups_do_not_change_each_other():
    """One group goes through another operation than several."""
    bank = make_bank()
    x, mask = make_data(2)
    both = sequence_and_summary(bank, x, mask, [2, 1])
    for g, task in enumerate([2, 1]):
        one = slice(g, g + 1)
        alone = sequence_and_summary(bank, x[one], mask[one], [task])
        for a, b in zip(both, alone):
            np.testing.assert_allclose(a[one], b, atol=1e-6)


def test_unknown_shapes_in_a_graph():
    bank = make_bank()
    x, mask = make_data(3)
    traced = tf.function(
        lambda *args: sequence_and_summary(bank, *args)[1],
        input_signature=[
            tf.TensorSpec([None, None, None, FEATURES], tf.float32),
            tf.TensorSpec([None, None, None], tf.bool),
            tf.TensorSpec([None], tf.int32),
        ],
    )
    expected = sequence_and_summary(bank, x, mask, [0, 1, 2])[1]
    np.testing.assert_allclose(traced(x, mask, [0, 1, 2]), expected, atol=1e-6)


def test_gradients_of_stacked_filters_are_slices():
    bank = make_bank()
    x, mask = make_data(1)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(sequence_and_summary(bank, x, mask, [1])[1])
    for gradient in tape.gradient(total, bank.trainable_variables):
        assert isinstance(gradient, tf.IndexedSlices)
        np.testing.assert_array_equal(gradient.indices, [1])
        assert np.all(np.isfinite(gradient.values))
    assert all(marks_of(v).is_private for v in bank.trainable_variables)


def test_mixed_precision_computes_in_half():
    bank = make_bank(dtype="mixed_bfloat16")
    x, mask = make_data(3)
    y = bank(x, tf.constant(mask), tf.constant([0, 1, 2]))
    assert y.dtype == tf.bfloat16
    summary = pooling.max_over_time(y, tf.constant(mask))
    assert summary.dtype == tf.bfloat16 and not np.any(summary[0, 0])


def test_bags():
    x, mask = make_data(2)
    x[~mask] = np.nan
    total = np.where(mask[..., None], x, 0).sum(2)
    got = pooling.bag("sum")(tf.constant(x), tf.constant(mask))
    np.testing.assert_allclose(got, total, atol=1e-6)
    count = np.maximum(mask.sum(2), 1)[..., None]
    got = pooling.bag("mean")(tf.constant(x), tf.constant(mask))
    np.testing.assert_allclose(got, total / count, atol=1e-6)
    with pytest.raises(ConfigError, match="unknown bag 'maen'; did you mean"):
        pooling.bag("maen")


@pytest.mark.parametrize(
    "widths, message",
    [
        ([], "widths must be a list of at least one width, got \\[\\]"),
        (3, "widths must be a list .* got 3"),
        ([3, 0], "every one of widths must be a positive integer, got 0"),
        ([3, 2.0], "every one of widths must be .* got 2.0"),
        ([3, 4, 3], "widths must all be different, got \\[3, 4, 3\\]"),
    ],
)
def test_wrong_widths(widths, message):
    with pytest.raises(ConfigError, match=message):
        ConvolutionBank(2, widths, 1)
