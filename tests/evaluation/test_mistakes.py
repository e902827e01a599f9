"""What each type of tasks calls a mistake, and which is the worst."""

import numpy as np
import pytest

from mtl_tf.evaluation import scored_examples, task_types
from mtl_tf.evaluation.metrics import metrics
from mtl_tf.evaluation.scoring import TaskPredictions


def worst(type, labels, predictions, names=(), **fields):
    fields = {"metrics": ("accuracy",), **fields}
    task = TaskPredictions("t", labels, predictions, names, type, **fields)
    return [
        (one.number, one.label, one.prediction, one.measure, one.place)
        for one in task_types.of(type).mistakes(task)
    ]


@pytest.mark.parametrize("type", ["classification", "pair_classification"])
def test_wrong_labels_by_confidence(type):
    scores = [[0.4, 0.6], [0.9, 0.1], [0.2, 0.8]]
    said = (type, [0, 1, 1], [1, 0, 1], ("n", "p"))
    assert worst(*said, scores=scores) == [
        (1, "p", "n", 0.9, None),
        (0, "n", "p", 0.6, None),
    ]
    assert [one[3] for one in worst(*said)] == [None, None]


def test_wrong_tokens_by_confidence():
    fields = {"metrics": ("token_accuracy",), "settings": {"scheme": ""}}
    labels, said = [[0, 1, 1], [1]], [[0, 0], [0]]
    assert worst(
        "tagging",
        labels,
        said,
        ("O", "X"),
        **fields,
        confidences=[[0.9, 0.6], [0.7]],
    ) == [(1, "X", "O", 0.7, 0), (0, "X", "O", 0.6, 1)]
    found = worst("tagging", labels, said, ("O", "X"), **fields)
    assert [one[3] for one in found] == [None, None]


@pytest.mark.parametrize("type", ["regression", "pair_regression"])
def test_numbers_by_their_error(type):
    assert worst(type, [1.0, 2.0], [1.5, 5.0], metrics=("mae",)) == [
        (1, 2.0, 5.0, 3.0, None),
        (0, 1.0, 1.5, 0.5, None),
    ]


def test_label_sets_by_their_surest_wrong_decision():
    labels, said = [[1, 0], [0, 1], [1, 1]], [[0, 0], [1, 0], [1, 1]]
    scores = [[0.1, 0.2], [0.6, 0.3], [0.9, 0.9]]
    found = worst(
        "multi_label",
        labels,
        said,
        ("a", "b"),
        metrics=("micro_f1",),
        scores=scores,
    )
    assert found == [
        (0, ["a"], [], pytest.approx(0.9), None),
        (1, ["b"], ["a"], pytest.approx(0.7), None),
    ]


def test_translations_by_their_chrf():
    found = worst(
        "translation",
        ["ein Hund", "eine Katze", "ja"],
        ["ein Hut", "nichts", "ja"],
        metrics=("bleu",),
    )
    assert [one[:3] for one in found] == [
        (1, "eine Katze", "nichts"),
        (0, "ein Hund", "ein Hut"),
    ]
    assert found[0][3] < found[1][3] < 100


def test_answers_by_their_primary_metric():
    found = worst(
        "question_answering",
        [{"answers": ["a red dog"]}, {"answers": ["x", "y"]}, "right"],
        ["a dog", "z", "right"],
        metrics=("nf1",),
    )
    assert found[0] == (1, ["x", "y"], "z", 0.0, None)
    assert found[1][:3] == (0, ["a red dog"], "a dog")
    assert 0 < found[1][3] < 100 and len(found) == 2


def test_classes_of_a_confusion_matrix():
    first, second, third = metrics.of_classes([[3, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert first == {
        "precision": 75.0,
        "recall": 75.0,
        "f1": 75.0,
        "support": 4,
    }
    assert second["f1"] == 50.0
    assert third == {"precision": 0, "recall": 0, "f1": 0, "support": 0}


def test_classes_are_scored_as_by_scikit_learn():
    scorers = pytest.importorskip("sklearn.metrics")
    draw = np.random.default_rng(0)
    labels, said = draw.integers(0, 4, [2, 200])
    matrix = metrics.confusion_matrix(labels, said, 4)
    right = scorers.precision_recall_fscore_support(labels, said)
    ours = [list(row.values()) for row in metrics.of_classes(matrix)]
    for column, (other, factor) in enumerate(zip(right, (100, 100, 100, 1))):
        assert [row[column] for row in ours] == pytest.approx(other * factor)


def test_confidences_are_kept_and_may_be_absent(tmp_path):
    fields = {"metrics": ("token_accuracy",), "type": "tagging"}
    sure = [np.array([0.123456, 1.0], np.float32)]
    with_them = TaskPredictions(
        "a", [[0, 0]], [[0, 0]], ("O",), confidences=sure, **fields
    )
    without = TaskPredictions("b", [[0]], [[0]], ("O",), **fields)
    scored_examples.write(str(tmp_path), "test", [with_them, without])
    found = scored_examples.read(str(tmp_path), "test")
    assert found["a"].confidences == [[0.1235, 1.0]]
    assert found["b"].confidences is None
