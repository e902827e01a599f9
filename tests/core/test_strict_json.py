"""Numbers that JSON has not."""

import math

import numpy as np
import pytest

from mtl_tf.core import files, strict_json
from tests.core import strict


@pytest.mark.parametrize(("indent", "breaks"), [(None, 0), (2, 14)])
def test_what_is_not_finite_is_null(indent, breaks):
    value = {
        "a": [1.5, -math.inf, (math.nan, "NaN", True)],
        "ä": {"b": np.float64("inf"), "c": None},
    }
    text = strict_json.dumps(value, indent=indent)
    assert strict.loads(text) == {
        "a": [1.5, None, [None, "NaN", True]],
        "ä": {"b": None, "c": None},
    }
    assert "ä" in text and text.count("\n") == breaks


def test_files_have_null(tmp_path):
    path = tmp_path / "a.json"
    files.write_json(str(path), {"loss": math.nan})
    assert strict.loads(path.read_text()) == {"loss": None}
