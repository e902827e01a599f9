import numpy as np
import tensorflow as tf

from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.examples.example_store import ExampleStore
from tests.pipelines.helpers import make_split


def tagged_split(name, lengths):
    """A split with ragged tags beside the tokens and a dense vector."""
    split = make_split(name, lengths)
    tokens = split.columns["tokens"]
    weights = np.arange(2 * len(split), dtype=np.float32).reshape(-1, 2) + 1
    columns = {
        **split.columns,
        "tags": Column(-tokens.values, tokens.offsets),
        "vector": Column(weights),
    }
    return EncodedSplit(name, columns)


SPLITS = [tagged_split("a", [2, 0, 3]), tagged_split("b", [1, 4])]


def gather(rows, task=(0, 1), length=5, splits=SPLITS):
    store = ExampleStore(splits)
    batch = store.gather(tf.constant(task), tf.constant(rows), length)
    return {key: value.numpy() for key, value in batch.items()}


def test_rows_come_from_the_split_of_their_group():
    batch = gather([[2, 0], [1, -1]])
    np.testing.assert_array_equal(
        batch["tokens"],
        [
            [[2001, 2002, 2003, 0, 0], [1, 2, 0, 0, 0]],
            [[1001, 1002, 1003, 1004, 0], [0] * 5],
        ],
    )
    np.testing.assert_array_equal(batch["label"], [[2, 0], [1, 0]])


def test_other_ragged_and_dense_columns_come_along():
    batch = gather([[2, 1], [1, -1]])
    np.testing.assert_array_equal(batch["tags"], -batch["tokens"])
    np.testing.assert_array_equal(
        batch["vector"], [[[5, 6], [3, 4]], [[3, 4], [0, 0]]]
    )


def test_without_a_length_the_longest_row_decides():
    assert gather([[0, 1], [0, -1]], length=None)["tokens"].shape == (2, 2, 2)
    assert gather([[1]], task=[0], length=None)["tokens"].shape == (1, 1, 1)


def test_columns_that_not_all_splits_have_are_left_out():
    batch = gather([[0], [0]], splits=[SPLITS[0], make_split("b", [3])])
    assert set(batch) == {"tokens", "label"}


def test_splits_where_all_texts_are_empty():
    batch = gather([[1]], task=[0], splits=[make_split("", [0, 0])])
    np.testing.assert_array_equal(batch["tokens"], [[[0] * 5]])
