"""How the scores of several runs lie."""

import pytest

from mtl_tf.evaluation.tables.spread import spread


def test_the_deviation_is_that_of_a_sample():
    assert spread([1.0, None, 4.0]) == {
        "mean": 2.5,
        "std": pytest.approx(4.5**0.5),
        "runs": 2,
    }


def test_one_run_has_no_deviation_and_none_has_no_mean():
    assert spread([5]) == {"mean": 5.0, "std": None, "runs": 1}
    assert spread([None]) == {"mean": None, "std": None, "runs": 0}
