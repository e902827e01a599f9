"""The case about growth; no test looks at a clock."""

import numpy as np
import pytest

from mtl_tf.benchmarks import made_data, scaling
from tests.benchmarks.benchmark_testing import SMALL, check_form, column


def test_a_row_of_every_value_and_the_smallest_first():
    found = [(one.axis, one.value) for one in scaling.settings(SMALL)]
    axes = ("tasks", "classes", "vocabulary", "length", "replicas")
    assert found == [
        (axis, n) for axis, ns in zip(axes, SMALL.scaled) for n in ns
    ]


@pytest.mark.slow
def test_every_row_is_measured():
    result = scaling.scaling(SMALL, 2)
    numbers = [row | {"step_ms": 1.0} for row in result["rows"]]
    check_form({**result, "rows": numbers, "targets": []})
    assert len(result["targets"]) == 3
    state = dict(zip(column(result, "value")[:2], column(result, "state_mb")))
    assert state[3] > state[1]


def test_memory_beyond_the_state():
    rows = [
        {"axis": "tasks", "state_mb": 10.0, "peak_mb": 500.0},
        {"axis": "tasks", "state_mb": 60.0, "peak_mb": 750.0},
    ]
    assert scaling._beyond(rows, "tasks") == 150.0


@pytest.mark.parametrize("replicas", [2, 4])
def test_pieces_of_a_step_are_its_batch(replicas):
    whole = next(iter(made_data.batches(SMALL, 8)))
    parts = list(made_data.batches(SMALL, 8, 2, replicas).take(replicas))
    for key, value in whole.items():
        if value.shape.rank > 1:
            joined = np.concatenate([part[key] for part in parts], axis=1)
            np.testing.assert_array_equal(joined, value)
        for part in parts:
            if value.shape.rank < 2:
                np.testing.assert_array_equal(part[key], value)
