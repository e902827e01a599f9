"""The served graph tempers and decides as a run does."""

import numpy as np
import pytest
import tensorflow as tf

from export.calibrated import Decisions, Temperatures
from mtl_tf.prediction import task_types
from mtl_tf.prediction.calibrating import Wish, settled

LABELS = ["a", "b", "c"]
TASKS = [
    {"name": "plain", "labels": LABELS},
    {
        "name": "both",
        "labels": LABELS,
        "temperature": 1.7,
        "decision": {"label": "b", "threshold": 0.6},
    },
    {"name": "hot", "labels": LABELS, "temperature": 0.4},
]


def drawn(rows=40):
    draw = np.random.default_rng(0)
    return draw.dirichlet([1, 1, 1], rows).astype(np.float32)


@pytest.mark.parametrize("number", range(3))
def test_one_label(number):
    scores = drawn()
    chosen = scores.argmax(1)
    rows = tf.fill([len(scores)], number)
    found = Temperatures(TASKS).softmax(tf.constant(scores), rows)
    label = Decisions(TASKS).labels(tf.constant(chosen, tf.int32), found, rows)
    given = {"scores": scores, "prediction": chosen}
    expected = task_types.of("classification").decided(TASKS[number], given)
    np.testing.assert_allclose(found, expected["scores"], atol=1e-6)
    np.testing.assert_array_equal(label, expected["prediction"])


ONE = {"name": "t", "type": "classification", "labels": ["no", "yes"]}


def both_decide(task, yes):
    """The labels that a run gives and those that its export does."""
    scores = np.stack([1 - yes, yes], 1)
    given = {"scores": scores, "prediction": scores.argmax(1)}
    by_run = task_types.of("classification").decided(task, given)["prediction"]
    rows = tf.zeros([len(yes)], tf.int32)
    found = Temperatures([task]).softmax(tf.constant(scores), rows)
    chosen = tf.constant(given["prediction"], tf.int32)
    return by_run, Decisions([task]).labels(chosen, found, rows)


@pytest.mark.parametrize("right", range(1, 6))
def test_a_threshold_between_neighbouring_scores(right):
    """Half-way between two such scores there is no float32."""
    yes = 1 - np.arange(6, dtype=np.float32) * np.float32(2**-24)
    labels = (np.arange(6) < right).astype(int)
    outputs = {"scores": np.stack([1 - yes, yes], 1)}
    task = ONE | settled(ONE, labels, outputs, False, [Wish("yes")])
    for decided in both_decide(task, yes):
        np.testing.assert_array_equal(decided, labels)


def test_what_only_float64_tells_apart_is_decided_alike():
    threshold = {"label": "yes", "threshold": 1 - 1e-9}
    task = {**ONE, "temperature": 0.02, "decision": threshold}
    by_run, by_export = both_decide(task, np.float32([0.6, 0.65]))
    np.testing.assert_array_equal(by_run, by_export)


def test_any_labels():
    scores = drawn()
    scores[0], scores[1] = 0.0, 1.0
    rows = tf.fill([len(scores)], 1)
    task = {**TASKS[1], "thresholds": {}, "temperature": 50.0}
    both = [TASKS[0], task]
    found = Temperatures(both).sigmoid(tf.constant(scores), rows)
    expected = task_types.of("multi_label").decided(task, {"scores": scores})
    np.testing.assert_allclose(found, expected["scores"], atol=1e-6)


def test_rows_without_a_task_stay_nothing():
    scores = tf.zeros([2, 3])
    rows = tf.constant([-1, -1])
    for made in (Temperatures(TASKS).softmax, Temperatures(TASKS).sigmoid):
        np.testing.assert_array_equal(made(scores, rows), scores)
    label = Decisions(TASKS).labels(tf.zeros([2], tf.int32), scores, rows)
    assert label.numpy().tolist() == [0, 0]


def test_without_any_the_graph_stays_as_it_was():
    scores, rows = tf.constant(drawn()), tf.zeros([40], tf.int32)
    assert Temperatures(TASKS[:1]).softmax(scores, rows) is scores
    chosen = tf.zeros([40], tf.int32)
    assert Decisions(TASKS[2:]).labels(chosen, scores, rows) is chosen
