"""What runs settle on validation examples beside types' own."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.probabilities import OneLabel
from mtl_tf.prediction import task_types
from mtl_tf.prediction.calibrating import Wish, settled

TASK = {"name": "t", "type": "classification", "labels": ["no", "yes"]}
LABELS = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 10)
YES = np.array([0.1, 0.2, 0.6, 0.7, 0.8, 0.9, 0.75, 0.4] * 10)


def outputs(yes=YES):
    scores = np.stack([1 - yes, yes], 1).astype(np.float32)
    return {"scores": scores, "prediction": scores.argmax(1)}


def test_nothing_is_settled_unless_it_is_asked_for():
    assert settled(TASK, LABELS, outputs(), temperature=False) == {}
    given = outputs()
    assert task_types.of("classification").decided(TASK, given) is given


def test_a_temperature_changes_probabilities_and_no_label():
    found = settled(TASK, LABELS, outputs(), temperature=True)
    assert set(found) == {"temperature"} and found["temperature"] != 1
    given = outputs()
    after = task_types.of("classification").decided(TASK | found, given)
    np.testing.assert_array_equal(after["prediction"], given["prediction"])
    loss = OneLabel().losses
    assert loss(LABELS, after["scores"]).mean() < (
        loss(LABELS, given["scores"]).mean()
    )


def test_a_temperature_at_the_end_of_the_range_is_told(caplog):
    settled(TASK, LABELS, outputs(), temperature=True)
    assert not caplog.records
    # Surer where it is wrong than where it is right.
    settled(TASK, 1 - LABELS, outputs(), temperature=True)
    (record,) = caplog.records
    told = "the highest that is tried: the model's probabilities"
    assert told in record.getMessage()


@pytest.mark.parametrize("task_type", ["classification", "multi_label"])
def test_no_temperature_is_fitted_where_no_mistake_limits_it(task_type, caplog):
    labels = (YES > 0.5).astype(int)
    task = TASK | {"type": task_type}
    if task_type == "multi_label":
        labels = np.stack([1 - labels, labels], 1)
    found = settled(task, labels, outputs(), temperature=True)
    assert found["temperature"] == 1
    (record,) = caplog.records
    assert "stays 1: the model predicts all 80 valid" in record.getMessage()


def test_a_temperature_of_these_examples_alone_is_not_kept(caplog):
    """Probabilities that are true need none, whatever few examples say."""
    kept = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        yes = rng.uniform(0.02, 0.98, 60)
        labels = (rng.uniform(size=60) < yes).astype(int)
        found = settled(TASK, labels, outputs(yes), temperature=True)
        kept.append(found["temperature"])
    assert kept.count(1.0) > 10
    assert "does not lower the log loss of the rest" in caplog.text
    # Those of a model that is far too sure are.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        yes = rng.uniform(0.02, 0.98, 60)
        labels = (rng.uniform(size=60) < yes).astype(int)
        sure = yes**4 / (yes**4 + (1 - yes) ** 4)
        found = settled(TASK, labels, outputs(sure), temperature=True)
        assert 1.5 < found["temperature"] < 8


def test_a_model_that_is_hardly_sure_is_not_told_to_be_right(caplog):
    unsure = 0.5 + (YES - 0.5) / 1000
    settled(TASK, LABELS, outputs(unsure), temperature=True)
    (record,) = caplog.records
    assert "lowest that is tried: the model is far less" in record.getMessage()


def test_a_precision_decides():
    found = settled(TASK, LABELS, outputs(), False, [Wish("yes", 1.0)])
    # Of those from 0.8 on all are right; 0.75 is wrong.
    assert found["decision"]["label"] == "yes"
    assert 0.75 < found["decision"]["threshold"] < 0.8
    after = task_types.of("classification").decided(TASK | found, outputs())
    np.testing.assert_array_equal(after["prediction"], YES >= 0.8)
    # The threshold is of the probabilities that a temperature has made.
    both = settled(TASK, LABELS, outputs(), True, [Wish("yes", 1.0)])
    after = task_types.of("classification").decided(TASK | both, outputs())
    np.testing.assert_array_equal(after["prediction"], YES >= 0.8)


def test_the_other_label_is_the_most_probable_one():
    task = TASK | {
        "labels": ["a", "b", "c"],
        "decision": {"label": "b", "threshold": 0.8},
    }
    scores = np.array([[0.1, 0.7, 0.2], [0.05, 0.9, 0.05], [0.5, 0.2, 0.3]])
    given = {"scores": scores, "prediction": scores.argmax(1)}
    after = task_types.of("classification").decided(task, given)
    assert after["prediction"].tolist() == [2, 1, 0]


def test_a_label_of_several_gets_its_own_threshold():
    task = TASK | {"type": "multi_label"}
    labels = np.stack([1 - LABELS, LABELS], 1)
    found = settled(task, labels, outputs(), True, [Wish("yes", 1.0)])
    assert set(found) == {"temperature", "thresholds"}
    usual = settled(task, labels, outputs(), True)
    assert found["thresholds"]["no"] == usual["thresholds"]["no"]
    assert found["thresholds"]["yes"] > usual["thresholds"]["yes"]
    after = task_types.of("multi_label").decided(task | found, outputs())
    np.testing.assert_array_equal(after["prediction"][:, 1], YES >= 0.8)
    wishes = [Wish("no", 1.0), Wish("yes", 1.0)]
    both = settled(task, labels, outputs(), True, wishes)["thresholds"]
    assert both["yes"] == found["thresholds"]["yes"]
    assert both["no"] > usual["thresholds"]["no"]
    with pytest.raises(ConfigError, match="of one, got those of no and yes"):
        settled(TASK, LABELS, outputs(), True, wishes)


def test_wishes_that_cannot_be_fulfilled():
    with pytest.raises(ConfigError, match="did you mean 'yes'"):
        settled(TASK, LABELS, outputs(), False, [Wish("yess")])
    worse = np.where(LABELS == 1, 0.4, 0.6)
    with pytest.raises(ConfigError, match=r"precision of 0.9 .* most is 0.5"):
        settled(TASK, LABELS, outputs(worse), False, [Wish("yes", 0.9)])
    with pytest.raises(ConfigError, match="no validation example with the l"):
        settled(TASK, LABELS * 0, outputs(), False, [Wish("yes")])
    task = TASK | {"type": "regression", "labels": ["yes"]}
    with pytest.raises(ConfigError, match="regression, which has no thresh"):
        settled(task, LABELS, outputs(), False, [Wish("yes")])
