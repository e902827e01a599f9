"""Texts cut into blocks, and which blocks a step has."""

import numpy as np

from mtl_tf.pipelines.unlabelled import text_blocks


def test_texts_stand_one_after_the_other_each_with_its_end():
    texts = [np.array([5, 6, 7], np.int32), np.array([8], np.int32)]
    blocks = text_blocks.cut(texts, end=2, length=4)
    np.testing.assert_array_equal(blocks, [[5, 6, 7, 2], [8, 2, 0, 0]])
    assert text_blocks.cut([], end=2, length=4).shape == (0, 4)


def test_an_epoch_has_each_block_once():
    rows = [text_blocks.rows_of_step(10, step, 4, seed=3) for step in range(5)]
    epochs = np.concatenate(rows).reshape(2, 10)
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch), np.arange(10))
    assert not np.array_equal(*epochs)
    again = text_blocks.rows_of_step(10, 3, 4, seed=3)
    np.testing.assert_array_equal(again, rows[3])
    other = text_blocks.rows_of_step(10, 0, 4, seed=4)
    assert not np.array_equal(other, rows[0])
