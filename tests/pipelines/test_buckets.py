import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.schedule import buckets
from tests.pipelines.helpers import bucket_padding


def padded_cells(lengths, boundaries) -> int:
    return sum(min(b for b in boundaries if b >= n) for n in lengths)


def brute_force(lengths, count, multiple) -> int:
    """The fewest padded cells over every set of multiples."""
    last = max(-(-max(lengths) // multiple), 1) * multiple
    others = range(multiple, last, multiple)
    return min(
        padded_cells(lengths, [*chosen, last])
        for size in range(count)
        for chosen in itertools.combinations(others, size)
    )


@settings(deadline=None, max_examples=60)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=30),
    count=st.integers(1, 4),
    multiple=st.sampled_from([3, 5, 8]),
)
def test_boundaries_are_the_best_of_all(lengths, count, multiple):
    chosen = buckets.choose_boundaries(
        np.array(lengths), count, multiple=multiple
    )
    assert len(chosen) <= count
    assert chosen == sorted(set(chosen))
    assert all(b % multiple == 0 for b in chosen)
    assert padded_cells(lengths, chosen) == brute_force(
        lengths, count, multiple
    )


def test_lengths_are_cut_and_no_boundary_lies_above_the_cut():
    chosen = buckets.choose_boundaries(np.array([3, 30, 90, 500]), 3, 50)
    assert chosen == [8, 32, 50]


def test_widely_spread_lengths_get_coarser_candidates():
    lengths = np.arange(1, 100_000, 7)
    chosen = buckets.choose_boundaries(lengths, 4)
    assert len(chosen) == 4
    assert chosen[-1] >= lengths.max()
    # Even lengths are best cut into even parts.
    np.testing.assert_allclose(chosen, [25e3, 50e3, 75e3, 100e3], rtol=0.02)


def test_empty_texts_need_a_bucket_too():
    assert buckets.choose_boundaries(np.array([0, 0]), 2) == [8]


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "5"])
def test_wrong_count(count):
    with pytest.raises(ConfigError, match="buckets must be a positive integer"):
        buckets.choose_boundaries(np.array([1]), count)


def test_no_lengths():
    with pytest.raises(ConfigError, match="no examples"):
        buckets.choose_boundaries(np.array([], np.int64), 3)


def test_make_boundaries_takes_a_number_or_a_list():
    lengths = np.array([3, 20])
    assert buckets.make_boundaries(2, lengths) == [8, 24]
    assert buckets.make_boundaries((5, 21), lengths) == [5, 21]


def test_boundaries_are_multiples_of_the_given_number():
    lengths = np.array([3, 20])
    assert buckets.make_boundaries(2, lengths, multiple=1) == [3, 20]
    assert buckets.make_boundaries(2, lengths, multiple=5) == [5, 20]
    # Of short texts even few buckets then need next to no padding.
    short = np.random.default_rng(0).integers(10, 40, 1000)
    shares = [
        bucket_padding(short, buckets.make_boundaries(16, short, 0, n))
        for n in (1, 8)
    ]
    assert shares[0] < 0.05 < 0.1 < shares[1]


def test_given_boundaries_must_hold_every_text():
    with pytest.raises(ConfigError, match="ends at 10.*has 20 tokens"):
        buckets.make_boundaries([5, 10], np.array([3, 20]))
    assert buckets.make_boundaries([5, 10], np.array([3, 20]), 10) == [5, 10]


@pytest.mark.parametrize(
    "wrong", [[], [0, 5], [5, 5], [9, 3], [2.5], ["x"], [None], None]
)
def test_wrong_boundaries(wrong):
    with pytest.raises(ConfigError, match="list of increasing lengths"):
        buckets.make_boundaries(wrong, np.array([1]))


def test_extend_boundaries_doubles_the_last():
    assert buckets.extend_boundaries([10, 40], 40) == [10, 40]
    assert buckets.extend_boundaries([10, 40], 100) == [10, 40, 80, 160]


def test_bucket_of_is_the_first_that_fits():
    found = buckets.bucket_of(np.array([0, 8, 9, 24]), [8, 24])
    np.testing.assert_array_equal(found, [0, 0, 1, 1])
