import keras
import numpy as np
import pytest

from mtl_tf.core.weight_marks import Marks, mark, marks_of


def test_marks_add_up():
    weight, other = (keras.Variable(np.zeros(2, "f")) for _ in range(2))
    assert marks_of(weight) == Marks()
    mark(weight, is_private=True)
    mark(weight, other, label_axes=2)
    assert marks_of(weight) == Marks(is_private=True, label_axes=2)
    assert marks_of(other) == Marks(label_axes=2)
    mark(weight, is_private=False)
    assert marks_of(weight) == marks_of(other)


def test_a_mark_that_does_not_exist():
    with pytest.raises(TypeError, match="is_privat"):
        mark(keras.Variable(np.zeros(2, "f")), is_privat=True)
