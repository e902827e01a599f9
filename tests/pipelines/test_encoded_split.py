import numpy as np
import pytest

from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit, alike

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


def ragged(rows, axis, dtype=np.int32):
    values = np.concatenate([np.zeros(0), *map(np.asarray, rows)])
    offsets = np.concatenate([[0], np.cumsum(list(map(len, rows)))])
    return Column(values.astype(dtype), offsets, axis)


def lists(column):
    return [column[row].tolist() for row in range(len(column))]


def test_alike_splits_have_all_columns_of_all():
    one = EncodedSplit(
        "one",
        {
            "tokens": ragged([[1, 2], []], "text"),
            "label": Column(np.array([1, 2])),
        },
    )
    two = EncodedSplit(
        "two",
        {
            "tokens": ragged([[3], [4, 5, 6], [7]], "text"),
            "tags": ragged([[1], [2, 3, 4], [5]], "text"),
            "scores": Column(np.ones([3, 2], np.float32)),
            "context": ragged([[8], [9], []], "context"),
        },
    )
    first, second = alike([one, two])
    assert (first.name, second.name) == ("one", "two")
    # Columns of one axis stand together, those without behind.
    order = ["tokens", "tags", "context", "label", "scores"]
    assert list(first.columns) == list(second.columns) == order
    assert first.axes == second.axes == ("text", "context")
    # As long as its texts, or without length.
    assert lists(first.columns["tokens"]) == [[1, 2], []]
    assert lists(first.columns["tags"]) == [[0, 0], []]
    assert lists(first.columns["context"]) == [[], []]
    assert first.lengths.tolist() == [[2, 0], [0, 0]]
    assert lists(first.columns["scores"]) == [[0, 0], [0, 0]]
    assert lists(second.columns["label"]) == [0, 0, 0]
    assert lists(second.columns["scores"]) == [[1, 1]] * 3
    assert second.lengths.tolist() == [[1, 1], [3, 1], [1, 0]]
    for key in order:
        types = {split.columns[key].values.dtype for split in (first, second)}
        assert len(types) == 1, key
    assert [len(split) for split in (first, second)] == [2, 3]


@pytest.mark.parametrize("turned", [False, True])
def test_alike_splits_have_the_widest_fixed_axes(turned):
    def split_of(name, width, boxes):
        letters = np.arange(1, 3 * width + 1, dtype=np.uint8).reshape(3, width)
        return EncodedSplit(
            name,
            {
                "characters": Column(letters, np.array([0, 2, 3]), "text"),
                "scores": Column(np.ones([2, width], np.float32)),
                "boxes": Column(np.ones([2, *boxes], np.int32)),
            },
        )

    # Of two fixed axes each split may have the larger one of one.
    splits = [split_of("narrow", 2, (3, 1)), split_of("wide", 4, (2, 5))]
    narrow, wide = sorted(
        alike(splits[::-1] if turned else splits), key=lambda split: split.name
    )
    assert narrow.columns["characters"].values.tolist() == [
        [1, 2, 0, 0],
        [3, 4, 0, 0],
        [5, 6, 0, 0],
    ]
    assert narrow.columns["characters"].values.dtype == np.uint8
    assert narrow.columns["characters"].axis == "text"
    assert narrow.columns["scores"].values.tolist() == [[1, 1, 0, 0]] * 2
    np.testing.assert_array_equal(
        wide.columns["characters"].values,
        splits[1].columns["characters"].values,
    )
    for split, (rows, columns) in ((narrow, (3, 1)), (wide, (2, 5))):
        boxes = split.columns["boxes"].values
        assert boxes.shape == (2, 3, 5) and boxes.sum() == 2 * rows * columns
        assert boxes[:, :rows, :columns].all()


def test_a_column_has_one_axis_in_all_splits():
    splits = [
        EncodedSplit("one", {"tokens": ragged([[1]], "text")}),
        EncodedSplit("two", {"tokens": ragged([[1]], "question")}),
    ]
    with pytest.raises(
        ValueError, match="tokens is on .*'question' in task tw"
    ):
        alike(splits)


def test_one_split_is_alike_itself():
    split = EncodedSplit("one", {"tokens": ragged([[1], [2, 3]], "text")})
    (same,) = alike([split])
    assert same.columns == split.columns
    assert alike([]) == []
