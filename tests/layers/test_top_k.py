"""The largest entries of rows, beside NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.top_k import top_k


def expected(x, k):
    """The k largest entries; the lower index first among equal ones."""
    indices = np.argsort(-x, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(x, indices, 1), indices


def check(x, k):
    values, indices = top_k(tf.constant(x), k)
    wanted = expected(x, k)
    np.testing.assert_array_equal(indices, wanted[1])
    np.testing.assert_array_equal(values, wanted[0])


@pytest.mark.parametrize("size", [3, 100, 2_048, 4_999, 9_973, 50_000])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_the_largest_entries_are_found(size, k):
    draw = np.random.default_rng(size + k)
    check(draw.normal(size=[3, size]).astype("float32"), min(k, size))


def test_of_equal_entries_the_lower_index_comes_first():
    draw = np.random.default_rng(0)
    check(draw.integers(0, 3, [20, 5_003]).astype("float32"), 7)
    check(np.zeros([2, 5_003], "float32"), 7)
    # The block of the higher one has the largest entry of all.
    x = np.zeros([1, 5_003], "float32")
    x[0, [3, 4_000, 4_001]] = 1, 5, 1
    check(x, 2)


@pytest.mark.parametrize("end", [0, 5_002])
def test_the_largest_may_lie_in_one_block_at_either_end(end):
    x = np.zeros([1, 5_003], "float32")
    x[0, abs(end - np.arange(9))] = np.arange(9) + 1
    check(x, 9)


def test_entries_of_minus_infinity_are_as_good_as_others():
    x = np.full([2, 4_999], -np.inf, "float32")
    x[0, 17] = 1.0
    values, indices = top_k(tf.constant(x), 3)
    assert indices[0, 0] == 17
    assert np.isneginf(values[0, 1:]).all()
    assert np.max(indices) < 4_999


def test_there_may_be_no_row():
    values, indices = top_k(tf.zeros([0, 5_000]), 4)
    assert values.shape == indices.shape == (0, 4)


def test_the_number_of_entries_may_be_unknown():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def run(x):
        return top_k(x, 2)

    x = np.random.default_rng(1).normal(size=[2, 30]).astype("float32")
    np.testing.assert_array_equal(run(x)[1], expected(x, 2)[1])
