"""Factors of labels' losses, from a config entry to the loss."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import registry
from tests.system.random_runs import written


def entry_of(folder, weights, rows="aabbbbbc"):
    text = "".join(f"{label}\tsome text\n" for label in rows)
    path = written(folder, "file.tsv", text)
    return {
        "name": "mine",
        "files": {"train": path, "validation": path, "test": path},
        "columns": {"label": 0, "text": 1},
        "class_weights": weights,
    }


def weights_of(folder, weights, **fields):
    (task,) = registry.resolve([entry_of(folder, weights) | fields])
    return task.to_json().get("class_weights")


def test_balanced_labels_have_equal_parts(tmp_path):
    weights = weights_of(tmp_path, "balanced")
    parts = np.array([2, 5, 1]) * weights
    np.testing.assert_allclose(parts, 8 / 3, rtol=1e-5)


def test_a_label_without_examples(tmp_path):
    """The others' weights are as if the label were not there."""
    weights = weights_of(tmp_path, "balanced", labels=["a", "b", "c", "d"])
    without = weights_of(tmp_path, "balanced")
    assert weights == [*without, 1.0]
    # The mean over examples, so that the loss has its usual size.
    assert np.dot([2, 5, 1, 0], weights) / 8 == pytest.approx(1.0, rel=1e-5)


def test_given_weights(tmp_path):
    assert weights_of(tmp_path, {"c": 3}) == [1.0, 1.0, 3.0]
    assert weights_of(tmp_path, None) is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("balance", "class_weights must be 'balanced' or a mapping"),
        ({"d": 1}, "unknown class_weights.d"),
        ({"a": 0}, "class_weights.a must be a positive number, got 0"),
        ([1, 2, 3], "class_weights must be a mapping"),
    ],
)
def test_wrong_weights(tmp_path, weights, message):
    with pytest.raises(ConfigError, match=message):
        weights_of(tmp_path, weights)


def test_weights_of_what_cannot_be_counted(tmp_path):
    entry = entry_of(tmp_path, "balanced") | {"labels": ["a", "b", "c"]}
    del entry["files"]["train"]
    with pytest.raises(ConfigError, match="needs a training split"):
        registry.resolve([entry])
