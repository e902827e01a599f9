"""Metrics against scikit-learn and by hand."""

import functools
import math

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.task_types import NAMES
from mtl_tf.evaluation import task_types as scorings
from mtl_tf.evaluation.metrics import (
    answer_metrics,
    binary_metrics,
    metrics,
    tagging_metrics,
    translation_metrics,
)
from mtl_tf.evaluation.task_types import multi_label, regression
from mtl_tf.tasks import task_types


def test_accuracy_by_hand():
    assert metrics.accuracy([0, 1, 1, 0], [0, 1, 0, 0]) == 75.0


def test_macro_f1_by_hand():
    # Class 0: precision 2/3, recall 1; class 1: precision 1, recall 1/2.
    expected = 100 * (0.8 + 2 / 3) / 2
    score = metrics.macro_f1([0, 1, 1, 0], [0, 1, 0, 0])
    assert score == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_agreement_with_scikit_learn(seed):
    sklearn = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    labels, predictions = random.integers(0, 4, (2, 50))
    f1 = sklearn.f1_score
    for name, expected in (
        ("accuracy", sklearn.accuracy_score),
        ("macro_f1", functools.partial(f1, average="macro")),
        ("weighted_f1", functools.partial(f1, average="weighted")),
        ("balanced_accuracy", sklearn.balanced_accuracy_score),
        ("mcc", sklearn.matthews_corrcoef),
        (
            "quadratic_kappa",
            functools.partial(sklearn.cohen_kappa_score, weights="quadratic"),
        ),
    ):
        score = metrics.get(name)(labels, predictions)
        assert score == pytest.approx(100 * expected(labels, predictions))
    np.testing.assert_array_equal(
        metrics.confusion_matrix(labels, predictions, 4),
        sklearn.confusion_matrix(labels, predictions),
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("digits", [1, 9])
def test_agreement_of_binary_metrics_with_scikit_learn(seed, digits):
    """Also where many scores are equal."""
    sklearn = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    is_label = random.random(40) < 0.3
    scores = np.round(random.random(40) * 0.6 + is_label * 0.2, digits)
    is_predicted = scores > 0.5
    arguments = (is_label, is_predicted, scores)
    for name, expected in (
        ("f1", sklearn.f1_score(is_label, is_predicted)),
        ("roc_auc", sklearn.roc_auc_score(is_label, scores)),
        (
            "average_precision",
            sklearn.average_precision_score(is_label, scores),
        ),
    ):
        score = binary_metrics.METRICS[name](*arguments)
        assert score == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    ("is_label", "expected"),
    [([True, True], (100, 50, 100)), ([False, False], (0, 50, 0))],
)
def test_binary_metrics_without_two_kinds(is_label, expected):
    arguments = np.array(is_label), np.array(is_label), np.array([0.2, 0.9])
    scores = [f(*arguments) for f in binary_metrics.METRICS.values()]
    assert scores == pytest.approx(list(expected))


# Of what is always the same nothing can be said.
_OF_DIFFERENCES = ("mcc", "quadratic_kappa")


@pytest.mark.parametrize(
    "name", [n for n in metrics.METRICS if n not in _OF_DIFFERENCES]
)
@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        ([], [], 0.0),
        ([1, 1], [1, 1], 100.0),
        ([1, 1], [0, 0], 0.0),
        ([0], [0], 100.0),
    ],
)
def test_empty_and_one_class_sets(name, labels, predictions, expected):
    score = metrics.get(name)(labels, predictions)
    assert score == expected
    assert type(score) is float
    assert not math.isnan(score)


@pytest.mark.parametrize("name", _OF_DIFFERENCES)
@pytest.mark.parametrize("labels", [[], [1, 1], [0]])
def test_sets_of_one_class_have_no_correlation(name, labels):
    assert metrics.get(name)(labels, labels) == 0.0
    assert metrics.get(name)([0, 1], [0, 1]) == pytest.approx(100.0)
    assert metrics.get(name)([0, 1], [1, 0]) == pytest.approx(-100.0)


def test_confusion_matrix_has_labels_in_rows():
    matrix = metrics.confusion_matrix([0, 0, 1], [0, 1, 1], classes=3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_confusion_matrix_of_nothing():
    assert metrics.confusion_matrix([], []).shape == (0, 0)
    assert metrics.confusion_matrix([], [], 2).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("labels", [[2], [-1]])
def test_labels_out_of_range(labels):
    with pytest.raises(ValueError, match="must be in 0..1, got"):
        metrics.confusion_matrix(labels, [0], 2)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="one length, got 2 and 1"):
        metrics.accuracy([0, 1], [0])


def test_unknown_metric_offers_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'accuracy'"):
        metrics.get("acuracy")


def test_an_entry_may_name_what_is_computed():
    computed = {
        "classification": metrics.METRICS | binary_metrics.METRICS,
        "tagging": tagging_metrics.METRICS,
        "translation": translation_metrics.METRICS,
        "multi_label": multi_label.METRICS,
        "regression": regression.METRICS,
        "question_answering": answer_metrics.METRICS,
    }
    for name in ("classification", "regression"):
        computed[f"pair_{name}"] = computed[name]
    assert set(computed) == set(NAMES)
    for name, functions in computed.items():
        assert set(functions) == set(task_types.of(name).metrics), name
        # Tables call each of them by a title, and perhaps more.
        titles = scorings.of(name).titles
        both = set(titles) | {"macro_f1"}  # which two types have
        assert set(functions) <= both, name
