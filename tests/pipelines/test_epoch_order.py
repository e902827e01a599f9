import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.pipelines.schedule.epoch_order import (
    JointOrder,
    TaskOrder,
    cut_into_batches,
)
from tests.pipelines.helpers import make_split, random_split

BOUNDARIES = [4, 8, 16]
lengths_of = st.lists(st.integers(0, 16), min_size=1, max_size=60)


def make_order(lengths, batch_size, name="books", seed=0):
    split = make_split(name, lengths)
    return TaskOrder(name, split, BOUNDARIES, batch_size, seed)


def padded_to(batches):
    return np.asarray(BOUNDARIES)[batches.buckets]


def longest(split, rows):
    lengths = np.append(split.lengths, 0)  # row -1 has length 0
    return lengths[rows].max(axis=-1)


def test_remainders_go_on_into_the_next_larger_bucket():
    buckets = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    batches = cut_into_batches(np.arange(8), buckets, 3)
    np.testing.assert_array_equal(
        batches.rows, [[0, 1, 2], [3, 4, 5], [6, 7, -1]]
    )
    np.testing.assert_array_equal(batches.buckets, [0, 1, 2])


def test_nothing_gives_no_batches():
    nothing = np.zeros([0], np.int64)
    assert cut_into_batches(nothing, nothing, 3).rows.shape == (0, 3)


@settings(deadline=None, max_examples=60)
@given(lengths_of, st.integers(1, 9), st.integers(0, 3))
def test_an_epoch_sees_every_example_once(lengths, batch_size, epoch):
    order = make_order(lengths, batch_size)
    batches = order.epoch(epoch)
    assert len(batches.rows) == len(order)
    real = batches.rows[batches.rows >= 0]
    assert sorted(real) == list(range(len(lengths)))
    split = make_split("books", lengths)
    assert np.all(longest(split, batches.rows) <= padded_to(batches))
    assert np.sum(np.any(batches.rows < 0, axis=1)) <= 1
    assert len(order) == -(-len(lengths) // batch_size)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 16), st.integers(0, 3)),
        min_size=1,
        max_size=60,
    ),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_classes_come_equally_often_in_every_bucket(rows, batch_size, epoch):
    lengths, classes = np.array(rows).T
    split = make_split("books", lengths)
    order = TaskOrder("books", split, BOUNDARIES, batch_size, 0, classes)
    plain = make_order(lengths, batch_size)
    batches = order.sorted_epoch(epoch)
    # Steps and shapes are those of each example once.
    np.testing.assert_array_equal(
        batches.buckets, plain.sorted_epoch(epoch).buckets
    )
    real = batches.rows[batches.rows >= 0]
    assert len(real) == len(rows)
    bucket = np.searchsorted(BOUNDARIES, lengths)
    for one in np.unique(bucket):
        drawn = real[bucket[real] == one]
        assert len(drawn) == np.sum(bucket == one)
        there = np.unique(classes[bucket == one])
        counts = [np.sum(classes[drawn] == c) for c in there]
        assert max(counts) - min(counts) <= 1
        for c, count in zip(there, counts):
            own = np.flatnonzero((bucket == one) & (classes == c))
            times = [np.sum(drawn == example) for example in own]
            assert max(times) - min(times) <= 1 and sum(times) == count


def test_extra_batches_are_balanced_too():
    classes = np.array([0] * 90 + [1] * 10)
    split = make_split("books", [3] * 100)
    order = TaskOrder("books", split, BOUNDARIES, 10, 0, classes)
    rows = order.extra(0, 0, 20)
    assert np.sum(classes[rows] == 1) == 100
    np.testing.assert_array_equal(rows, order.extra(0, 0, 20))
    assert not np.array_equal(rows, order.extra(1, 0, 20))


def test_epochs_shuffle_examples_and_batches():
    split = random_split("books", 300, 16)
    order = TaskOrder("books", split, BOUNDARIES, 8, 0)
    first, second = order.epoch(0), order.epoch(1)
    assert not np.array_equal(first.buckets, second.buckets)
    assert np.any(np.diff(first.buckets) < 0)  # not sorted by length
    together = [{frozenset(row) for row in b.rows} for b in (first, second)]
    assert len(together[0] & together[1]) < 3


def test_the_order_is_a_function_of_seed_name_and_epoch():
    def rows(name="books", seed=0, epoch=3):
        order = make_order([3] * 50, 8, name=name, seed=seed)
        return order.epoch(epoch).rows, order.sorted_epoch(epoch).rows

    for mine, again in zip(rows(), rows()):
        np.testing.assert_array_equal(mine, again)
    for changed in (rows(name="dvd"), rows(seed=1), rows(epoch=4)):
        for mine, other in zip(rows(), changed):
            assert not np.array_equal(mine, other)


@settings(deadline=None, max_examples=60)
@given(lengths_of, st.integers(1, 9), st.integers(0, 2), st.integers(0, 7))
def test_extra_batches_fit_their_bucket(lengths, batch_size, bucket, count):
    rows = make_order(lengths, batch_size).extra(0, bucket, count)
    assert rows.shape == (count, batch_size)
    assert np.all(longest(make_split("", lengths), rows) <= BOUNDARIES[bucket])
    fitting = sum(n <= BOUNDARIES[bucket] for n in lengths)
    for row in rows:
        real = row[row >= 0]
        assert len(set(real)) == len(real) == min(batch_size, fitting)


def test_extra_batches_prefer_their_own_bucket():
    lengths = [2] * 10 + [6] * 10 + [12] * 4
    order = make_order(lengths, 4)
    assert set(order.extra(0, 2, 5).ravel()) == set(range(20, 24))
    lengths[20:] = [12] * 3  # too few for a batch: the next smaller bucket
    rows = make_order(lengths, 4).extra(0, 2, 9)
    assert rows.min() >= 10 and rows.max() == 22


def test_extra_batches_take_turns_over_all_examples():
    rows = make_order([3] * 12, 4).extra(0, 0, 6)
    for turn in (rows[:3], rows[3:]):
        assert sorted(turn.ravel()) == list(range(12))
    assert not np.array_equal(rows[:3], rows[3:])


JOINT = {"books": (100, 16), "dvd": (37, 16), "mr": (60, 7), "tiny": (2, 16)}


def joint_order(seed=0):
    splits = [random_split(name, *size) for name, size in JOINT.items()]
    orders = [TaskOrder(s.name, s, BOUNDARIES, 8, seed) for s in splits]
    return splits, orders, JointOrder(orders, seed)


@pytest.mark.parametrize("epoch", [0, 5])
def test_joint_steps_share_a_bucket_and_see_every_task_whole(epoch):
    splits, _, joint = joint_order()
    batches = joint.epoch(epoch)
    assert batches.rows.shape == (len(joint), len(JOINT), 8)
    for group, split in enumerate(splits):
        rows = batches.rows[:, group]
        assert set(rows[rows >= 0]) == set(range(len(split)))
        assert np.all(longest(split, rows) <= padded_to(batches))


def test_joint_epochs_are_no_longer_than_needed():
    _, orders, joint = joint_order()
    needed = [
        max(int(np.sum(order.batch_buckets == b)) for order in orders)
        for b in range(len(BOUNDARIES))
    ]
    assert len(joint) == sum(needed)
    counted = np.bincount(joint.epoch(0).buckets, minlength=len(BOUNDARIES))
    np.testing.assert_array_equal(counted, needed)


def test_a_large_task_comes_once_and_small_ones_start_over_in_a_new_order():
    splits, orders, joint = joint_order()
    rows = joint.epoch(0).rows
    books, dvd = rows[:, 0], rows[:, 1]
    seen = np.bincount(books[books >= 0], minlength=len(splits[0]))
    assert seen.min() == 1 and len(joint) - len(orders[0]) <= 3
    again = np.bincount(dvd[dvd >= 0])
    assert again.min() >= 1 and again.max() >= 2
    batches = [frozenset(r) for r in dvd if np.all(r >= 0)]
    assert len(set(batches)) == len(batches)


def test_a_task_with_nothing_short_gets_filler():
    long, short = make_split("long", [16] * 8), make_split("short", [2] * 8)
    orders = [TaskOrder(s.name, s, BOUNDARIES, 4, 0) for s in (long, short)]
    batches = JointOrder(orders, 0).epoch(0)
    for bucket, rows in zip(batches.buckets, batches.rows):
        assert np.all((rows[0] == -1) == (bucket == 0))
        assert np.all(rows[1] >= 0)  # short texts fit everywhere


def test_joint_epochs_differ_and_repeat_exactly():
    first, second = joint_order()[2], joint_order()[2]
    np.testing.assert_array_equal(first.epoch(4).rows, second.epoch(4).rows)
    assert not np.array_equal(first.epoch(0).rows, first.epoch(1).rows)
    other_seed = joint_order(seed=1)[2]
    assert not np.array_equal(first.epoch(0).rows, other_seed.epoch(0).rows)
