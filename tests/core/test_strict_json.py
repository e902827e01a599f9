"""Numbers that JSON has not."""

import math

import numpy as np
import pytest

from mtl_tf.core import files, strict_json
from mtl_tf.core.errors import ConfigError
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


@pytest.mark.parametrize("odd", [1.5, np.float32("nan")])
def test_values_of_numpy_are_plain(odd):
    value = {
        "place": np.int64(3),
        "places": np.array([[1, 2]], np.int32),
        "is_one": np.bool_(True),
        "parts": (np.float32(0.5), [odd]),
    }
    assert strict.loads(strict_json.dumps(value)) == {
        "place": 3,
        "places": [[1, 2]],
        "is_one": True,
        "parts": [0.5, [1.5 if odd == 1.5 else None]],
    }


def test_what_json_cannot_hold_is_told():
    with pytest.raises(ConfigError, match=r"JSON holds .*, got \{1\} \(set\)"):
        strict_json.dumps({"a": {1}})
