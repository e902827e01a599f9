"""Times as they are read."""

import pytest

from mtl_tf.core.durations import duration


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.04, "0.0 s"),
        (59.9, "59.9 s"),
        (60, "1 min 00 s"),
        (3599.6, "1 h 00 min 00 s"),
        (3723, "1 h 02 min 03 s"),
    ],
)
def test_durations(seconds, expected):
    assert duration(seconds) == expected
