"""Parts of a split."""

import numpy as np
import tensorflow as tf

from mtl_tf.tasks.splits.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.splits.parts import select
from tests.tasks.fakes import Numbers


def test_any_number_of_examples_of_any_shape_is_selected():
    size = 2500
    lists = [[n] * (n % 4) for n in range(size)]
    examples = {"number": tf.range(size), "list": tf.ragged.constant(lists)}
    dataset = tf.data.Dataset.from_tensor_slices(examples)
    selected = np.random.default_rng(5).random(size) < 0.3
    selected[1000:2100] = False  # a whole batch, too
    found = list(select(dataset, selected).as_numpy_iterator())
    numbers = np.flatnonzero(selected).tolist()
    assert [one["number"] for one in found] == numbers
    assert [one["list"].tolist() for one in found] == [
        lists[number] for number in numbers
    ]


def test_a_part_is_made_once():
    source = HoldOutSource(Numbers(40), "all", "mails")
    for part in (KEPT, HELD_OUT):
        assert source.dataset(part) is source.dataset(part)
    assert source.dataset(KEPT) is not source.dataset(HELD_OUT)
