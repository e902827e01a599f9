"""Windows: every piece is read, and its state is its own text's affair."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.pretrained import windows


def read(lengths, time, size, overlap):
    """What each window reads, and what each place of a text takes."""
    found = windows.cut(
        tf.constant(lengths, tf.int32), tf.constant(time), size, overlap
    )
    return windows.Windows(*(part.numpy() for part in found))


def test_a_text_that_fits_is_one_window_as_it_is():
    found = read([5, 3], 5, 10, 2)
    assert found.places.tolist() == [[[0, 1, 2, 3, 4]]] * 2
    assert not found.ends.any()
    assert not found.window.any()
    assert found.inside.tolist() == [[0, 1, 2, 3, 4]] * 2


@pytest.mark.parametrize("size", [5, 6, 9])
@pytest.mark.parametrize("overlap", [0, 1, 2])
def test_every_piece_takes_the_state_of_itself(size, overlap):
    overlap = min(overlap, (size - 2) // 2)
    for length in range(2, 31):
        found = read([length], length, size, overlap)
        window, inside = found.window[0], found.inside[0]
        places = found.places[0, window, inside]
        assert places.tolist() == list(range(length))
        # The end piece in the middle of a text stands for no piece.
        assert not found.ends[0, window, inside].any()


@pytest.mark.parametrize("length", range(2, 20))
def test_a_longer_text_beside_it_changes_nothing(length):
    alone = read([length], length, 6, 2)
    beside = read([length, 33], 33, 6, 2)
    for name in ("window", "inside"):
        np.testing.assert_array_equal(
            getattr(alone, name)[0], getattr(beside, name)[0, :length]
        )


def test_windows_begin_with_the_first_piece_and_end_with_the_end():
    found = read([10], 10, 6, 2)
    assert found.places[0].tolist() == [
        [0, 1, 2, 3, 4, 5],
        [0, 3, 4, 5, 6, 7],
        [0, 5, 6, 7, 8, 9],
    ]
    assert found.ends[0, :, -1].tolist() == [True, True, False]
    assert not found.ends[0, :, :-1].any()
    # Each piece from the window in which it is farthest from an end.
    assert found.window[0].tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
