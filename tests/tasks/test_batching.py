"""Batches of examples."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.tasks.batching import batched
from tests.traces import counted

WORDS = tf.ragged.constant([["a", "b"], [], ["c"]])


def padded():
    """Examples of one open axis, which are no ragged tensors themselves."""
    return tf.data.Dataset.from_tensor_slices(WORDS).map(lambda x: x + "!")


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.data.Dataset.from_tensor_slices({"text": ["a", "b", "c"]}),
        lambda: tf.data.Dataset.from_tensor_slices({"words": WORDS}),
        padded,
        lambda: tf.data.Dataset.from_tensor_slices(np.ones([3, 2])),
    ],
    ids=["scalars", "ragged", "open", "known"],
)
def test_batches_are_those_of_ragged_batch(make):
    found, expected = batched(make(), 2), make().ragged_batch(2)
    assert found.element_spec == expected.element_spec
    texts = [list(map(str, batches)) for batches in (found, expected)]
    assert texts[0] == texts[1] and len(texts[0]) == 2


def test_known_shapes_trace_nothing():
    dataset = tf.data.Dataset.from_tensor_slices({"text": ["a", "b", "c"]})
    with counted() as names:
        list(batched(dataset, 2))
    assert names == []
