import numpy as np

from mtl_tf.pipelines.encoded_split import Column, EncodedSplit

RAGGED = Column(np.array([7, 8, 9], np.int32), np.array([0, 2, 2, 3]))
DENSE = Column(np.array([[1, 2], [3, 4]]))


def test_a_column_has_one_item_per_example():
    assert len(RAGGED) == 3 and len(DENSE) == 2
    assert [list(RAGGED[i]) for i in range(3)] == [[7, 8], [], [9]]
    np.testing.assert_array_equal(DENSE[1], [3, 4])
    np.testing.assert_array_equal(RAGGED.lengths, [2, 0, 1])


def test_joined_columns_keep_their_examples():
    joined = Column.join([RAGGED, Column(np.array([5]), np.array([0, 1]))])
    assert [list(joined[i]) for i in range(4)] == [[7, 8], [], [9], [5]]
    assert joined.offsets.dtype == np.int64
    np.testing.assert_array_equal(
        Column.join([DENSE, DENSE]).values, [[1, 2], [3, 4], [1, 2], [3, 4]]
    )


def test_an_example_is_as_long_as_its_longest_feature():
    target = Column(np.array([1, 2, 3, 4]), np.array([0, 1, 3, 4]))
    label = Column(np.array([9, 9, 9]))
    split = EncodedSplit("t", {"tokens": RAGGED, "tags": target, "l": label})
    assert len(split) == 3
    np.testing.assert_array_equal(split.lengths, [2, 2, 1])
