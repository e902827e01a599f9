"""Temperatures, calibration errors and Brier scores."""

import numpy as np
import pytest

from mtl_tf.evaluation import evaluator
from mtl_tf.evaluation.probabilities import (
    AnyLabels,
    OneLabel,
    calibration_error,
    fit_temperature,
    quality,
    reliability,
)
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.tables import tables
from mtl_tf.evaluation.thresholds import threshold_of_precision


def softmax(logits):
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def drawn(temperature, size=4000, labels=3):
    """Labels drawn from probabilities, and these with other logits."""
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(size, labels)) * 2
    true = softmax(logits)
    right = (draw.random((size, 1)) < np.cumsum(true, 1)).argmax(1)
    return right, true, softmax(logits * temperature)


def test_the_temperature_that_was_put_in_is_found():
    labels, true, hot = drawn(3.0)
    found = fit_temperature(OneLabel(), labels, hot)
    assert found == pytest.approx(3.0, rel=0.1)
    np.testing.assert_allclose(OneLabel().tempered(hot, 3.0), true, atol=1e-6)
    before, after = (
        quality(OneLabel(), labels, scores)
        for scores in (hot, OneLabel().tempered(hot, found))
    )
    assert all(after[name] < before[name] for name in before)
    assert after["calibration_error"] < 3 < before["calibration_error"]


def test_the_temperature_of_labels_by_themselves():
    draw = np.random.default_rng(1)
    odds = draw.normal(size=(3000, 4))
    labels = draw.random(odds.shape) < 1 / (1 + np.exp(-odds))
    scores = 1 / (1 + np.exp(-odds / 2))
    found = fit_temperature(AnyLabels(), labels, scores)
    assert found == pytest.approx(0.5, rel=0.1)


def test_a_zero_stays_zero_and_rows_sum_to_one():
    scores = np.array([[0.75, 0.25, 0.0], [1.0, 0.0, 0.0]])
    found = OneLabel().tempered(scores, 20.0)
    assert found[0, 2] == 0 and found[1].tolist() == [1, 0, 0]
    np.testing.assert_allclose(found.sum(1), 1)
    assert found[0, 0] < 0.75


def test_a_temperature_that_changes_nothing_is_one():
    scores = np.full([10, 2], 0.5)
    labels = np.arange(10) % 2
    assert fit_temperature(OneLabel(), labels, scores) == 1.0


def test_errors_by_hand():
    labels = np.array([0, 0, 1, 1])
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])
    kind = OneLabel()
    # Bins of a fifth: 0.6 to 0.8 has 0.8 (right) and 0.7 (wrong).
    found = reliability(kind, labels, scores, 5)
    assert [one["count"] for one in found] == [2, 2]
    assert [one["accuracy"] for one in found] == [0.5, 1.0]
    # Of the usual number of bins, 0.8 and 0.7 have one each.
    error = calibration_error(kind, labels, scores)
    assert error == pytest.approx(25 * (0.7 + 0.2 + 2 * 0.1))
    squares = [0.02, 0.08, 0.98, 0.02]
    assert kind.brier(labels, scores) == pytest.approx(np.mean(squares))
    logs = -np.log([0.9, 0.8, 0.3, 0.9])
    np.testing.assert_allclose(kind.losses(labels, scores), logs)
    several = AnyLabels()
    truth = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    assert several.brier(truth, scores) == pytest.approx(np.mean(squares) / 2)
    np.testing.assert_allclose(several.losses(truth, scores), logs)
    assert several.confidence([[0.9, 0.4]]) == [0.6]


def test_labels_under_other_numbers():
    labels = OneLabel().renumbered([0, 1, 2], [2, 0, 1])
    assert labels.tolist() == [1, 2, 0]
    sets = AnyLabels().renumbered([[1, 0, 0], [0, 1, 1]], [2, 0, 1])
    assert sets.tolist() == [[0, 1, 0], [1, 0, 1]]


def test_results_and_tables_tell_of_a_temperature():
    labels, _, hot = drawn(3.0, 500)
    mended = OneLabel().tempered(hot, 3.0)
    task = TaskPredictions(
        "t",
        labels,
        mended.argmax(1),
        ("a", "b", "c"),
        scores=mended,
        settings={"temperature": 3.0},
    )
    results = evaluator.evaluate([task], "test")
    found = results["tasks"]["t"]["calibration"]
    assert found["before"] == pytest.approx(quality(OneLabel(), labels, hot))
    assert found["brier"] < found["before"]["brier"]
    line = "probabilities of t: calibration error"
    assert line in tables.console(results)
    assert line in tables.markdown(results)
    plain = TaskPredictions("t", labels, labels, "abc", scores=mended)
    results = evaluator.evaluate([plain], "test")
    assert "calibration" not in results["tasks"]["t"]
    assert line not in tables.console(results)


def test_the_threshold_of_a_precision_has_the_highest_recall():
    draw = np.random.default_rng(2)
    for _ in range(50):
        labels = draw.random(30) < 0.5
        scores = np.round(draw.random(30), 1)
        found, most = threshold_of_precision(labels, scores, 0.7)
        every = {
            limit: labels[scores >= limit].mean()
            for limit in np.arange(0.05, 1, 0.1)
            if (scores >= limit).any()
        }
        enough = [limit for limit, share in every.items() if share >= 0.7]
        assert most == pytest.approx(max([*every.values(), most]))
        if not enough:
            assert found is None or labels[scores >= found].mean() >= 0.7
            continue
        assert labels[scores >= found].mean() >= 0.7
        assert (scores >= found).sum() >= (scores >= min(enough)).sum()
    assert threshold_of_precision(~labels & labels, scores, 0.7) == (None, 0.0)
