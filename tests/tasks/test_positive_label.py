"""Which label `f1` and other metrics of one label are of."""

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import registry
from tests.system.random_runs import written


def resolved(folder, labels, **fields):
    text = "".join(f"{label}\tsome text\n" for label in labels)
    path = written(folder, "file.tsv", text)
    entry = {
        "name": "mine",
        "files": {"train": path, "validation": path, "test": path},
        "columns": {"label": 0, "text": 1},
        **fields,
    }
    (task,) = registry.resolve([entry])
    return task.to_json()


def test_the_second_of_two_needs_no_name(tmp_path):
    task = resolved(tmp_path, "aab", metrics=["f1", "accuracy"])
    assert task["metrics"] == ["f1", "accuracy"]
    assert "positive_label" not in task


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        ("abc", "b", "b"),
        ("001", 0, "0"),
        (["true", "false"], False, "false"),
    ],
)
def test_a_label_that_is_named(tmp_path, labels, given, expected):
    task = resolved(tmp_path, labels, positive_label=given, metrics=["roc_auc"])
    assert task["positive_label"] == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": ["f1"]}, "the metrics .* positive_label must .* a, b, c$"),
        ({"positive_label": "bb"}, "unknown positive_label 'bb'; .*'b'"),
        ({"positive_label": True}, "unknown positive_label 'true'"),
        (
            {"positive_label": "b"},
            "positive_label does nothing without one of the metrics f1, roc_",
        ),
        (
            {"positive_label": "b", "metrics": ["mcc"]},
            "positive_label does nothing",
        ),
        ({"positive_label": None}, "unknown positive_label None"),
        ({"metrics": "f1"}, "metrics must be"),
    ],
)
def test_wrong_labels(tmp_path, fields, message):
    with pytest.raises(ConfigError, match=f"task mine: {message}"):
        resolved(tmp_path, "abc", **fields)
