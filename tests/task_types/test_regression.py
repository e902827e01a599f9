"""Regression: its targets, head and scores."""

import json

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats
from sklearn import metrics

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import evaluator
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.task_types import regression
from mtl_tf.layers.heads.regression import RegressionHead
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task_statistics import statistics
from tests.layers.layer_testing import run_layer_test


def task_of(tmp_path, values, **fields):
    path = tmp_path / "train.jsonl"
    lines = [{"text": f"t{n}", "value": v} for n, v in enumerate(values)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    entry = {"name": "stars", "type": "regression", **fields}
    (task,) = resolve([entry | {"files": {"train": str(path)}}])
    return task


def test_values_and_their_scale(tmp_path):
    task = task_of(tmp_path, [1, "2.5", 4.5, 8])
    found = [
        float(one["value"])
        for one in task.source.dataset("train").as_numpy_iterator()
    ]
    assert found == [1, 2.5, 4.5, 8]
    assert task.labels == ()
    assert task.settings["offset"] == pytest.approx(4.0)
    assert task.settings["scale"] == pytest.approx(np.std(found), rel=1e-5)
    bound = task_of(tmp_path, [1, 2], range=[0, 10])
    assert bound.settings == {"offset": 5.0, "scale": 5.0, "range": [0, 10]}
    # Values that do not vary have no scale of their own.
    assert task_of(tmp_path, [3, 3, 3]).settings["scale"] == 1.0
    with pytest.raises(DataError, match="changed since it was first read"):
        list(statistics(task))


def test_wrong_numbers_of_tables_name_the_column(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("text,stars\na,1\nb,two\n")
    entry = {"name": "s", "type": "regression", "files": {"train": str(path)}}
    with pytest.raises(DataError, match="csv:3: 'stars' must be a number"):
        resolve([entry | {"columns": {"value": "stars"}}])
    # The message may end in other words, but not about a header.
    numbers = {"columns": {"text": 0, "value": 1}}
    with pytest.raises(DataError, match="csv:1: 'value' .* set header to True"):
        resolve([entry | numbers])
    with pytest.raises(DataError, match='csv:3: .*, found "two"$'):
        resolve([entry | numbers | {"header": True}])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("much", "'value' must be a number, found \"much\""),
        ("3,5", 'found "3,5": write 1234.5 for 1,234.5 or 1.234,5$'),
        ("1.234,5", 'found "1.234,5": write 1234.5 for 1,234.5'),
        ("nan", "must be finite, found nan; `skip_missing=True` in the task's"),
        (True, "'value' must be a number, found true"),
        (None, "'value' must be a number, found null"),
        (float("nan"), "'value' must be finite, found nan"),
        (-2e18, r"'value' must be from -1e\+18 to 1e\+18, found -2e\+18"),
        (11, r"'value' must be from 0 to 10 \(range\), found 11"),
    ],
)
def test_wrong_values(tmp_path, value, message):
    with pytest.raises(DataError, match=message) as caught:
        task_of(tmp_path, [1, value], range=[0, 10]).source.size("train")
    assert "train.jsonl:2" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "is_told"), [(-999, True), (1e9, True), (60, False)]
)
def test_a_value_far_from_the_others_is_told(tmp_path, value, is_told):
    task = task_of(tmp_path, [*[1, 2, 3, 4, 5] * 20, value])
    assert len(task.source.warnings) == is_told
    if is_told:
        assert (
            f"the value {value:g} is far from the others, 9 of 10 of which are "
            "from 1 to 5: does it stand for none?"
        ) in task.source.warnings[0]


def test_numbers_that_are_missing_are_left_out_if_asked(tmp_path):
    values = [1, "NaN", " nan ", "NA", "null", "", None, float("nan"), 2]
    task = task_of(tmp_path, values, skip_missing=True)
    assert task.source.size("train") == 2


@pytest.mark.parametrize("bounds", [[1], [2, 1], [1, 1], "0-5", [0, "5"]])
def test_wrong_ranges(tmp_path, bounds):
    with pytest.raises(ConfigError, match="range must be a list of the least"):
        task_of(tmp_path, [1, 2], range=bounds)


def head_inputs():
    draw = np.random.default_rng(0)
    summary = tf.constant(draw.normal(size=(2, 3, 4)), tf.float32)
    value = tf.constant(draw.normal(size=(2, 3)) * 3, tf.float32)
    return {"summary": summary}, {"task": tf.constant([1, 0]), "value": value}


def test_head():
    run_layer_test(
        lambda: RegressionHead([2.0, 0.0], [3.0, 1.0], [[1.0, 3.0], []]),
        list(head_inputs()),
        parameters=2 * (4 + 1),
        output_shapes={"prediction": (2, 3), "loss": (2, 3)},
        symbolic=(),
    )


def test_predictions_and_losses():
    encoded, batch = head_inputs()
    offsets, scales = [2.0, 0.0], [3.0, 1.0]
    head = RegressionHead(offsets, scales, [[1.0, 3.0], []])
    output = head(encoded, batch)
    kernel, bias = (np.array(w) for w in head.dense.get_weights())
    for group, task in enumerate((1, 0)):
        x = encoded["summary"][group].numpy()
        inner = (x @ kernel[task] + bias[task])[:, 0]
        value = offsets[task] + scales[task] * inner
        wanted = batch["value"][group].numpy()
        losses = np.square((value - wanted) / scales[task])
        np.testing.assert_allclose(output["loss"][group], losses, 1e-4)
        limits = (1.0, 3.0) if task == 0 else (-np.inf, np.inf)
        np.testing.assert_allclose(
            output["prediction"][group], np.clip(value, *limits), 1e-4
        )


def predictions(labels, said, metrics):
    return TaskPredictions(
        "stars", labels, said, [], type="regression", metrics=metrics
    )


def test_scores_are_those_of_scipy_and_scikit_learn():
    draw = np.random.default_rng(3)
    labels = draw.integers(0, 5, 100).astype(float)
    said = np.round(labels + draw.normal(size=100))
    names = ("pearson", "spearman", "r2", "mse", "rmse", "mae")
    task = predictions(labels, said, names)
    results = evaluator.evaluate([task], "test")
    found = results["tasks"]["stars"]
    expected = {
        "pearson": 100 * stats.pearsonr(labels, said).statistic,
        "spearman": 100 * stats.spearmanr(labels, said).statistic,
        "r2": 100 * metrics.r2_score(labels, said),
        "mse": np.mean((labels - said) ** 2),
        "rmse": metrics.root_mean_squared_error(labels, said),
        "mae": np.mean(np.abs(labels - said)),
    }
    for name in names:
        np.testing.assert_allclose(found[name], expected[name])
    flat = predictions(labels, np.ones(100), names)
    assert evaluator.evaluate([flat], "x")["tasks"]["stars"]["pearson"] == 0.0
    same = evaluator.evaluate([predictions([1.0, 1.0], [1.0, 2.0], names)], "x")
    assert same["tasks"]["stars"]["r2"] == 0.0


def test_values_that_do_not_vary_have_no_correlation():
    """Also where the rounding of their mean leaves them a tiny variance."""
    names = ("pearson", "spearman", "r2")
    same, others = np.full(7, 0.1), np.arange(7.0)
    assert np.var(same) > 0
    for labels, predicted in ((same, others), (others, same)):
        task = predictions(labels, predicted, names)
        scores = evaluator.evaluate([task], "x")["tasks"]["stars"]
        assert scores["pearson"] == scores["spearman"] == 0.0
    assert regression.r2(same, others) == regression.r2(same, same) == 0.0


def test_a_lower_error_is_the_better_mean():
    right = predictions([1.0, 2.0], [1.0, 2.5], ("mse",))
    wrong = predictions([1.0, 2.0], [3.0, 2.5], ("mse",))
    means = [
        evaluator.evaluate([task], "test")["mean"]["overall"]
        for task in (right, wrong)
    ]
    assert means[0] == pytest.approx(-0.125) and means[0] > means[1]
