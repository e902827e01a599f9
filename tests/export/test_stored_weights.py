"""Exports whose weights are stored in fewer bytes."""

import os

import keras
import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import check, latency, saved_model, stored_weights
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner
from mtl_tf.runs import training_run
from tests.export.export_testing import TEXTS, ask_each, assert_scores
from tests.system import corpus


def drawn(*shape):
    draw = np.random.default_rng(0)
    # Channels of very different sizes: one scale for all would lose some.
    spread = 10.0 ** draw.integers(-3, 2, shape[-1])
    return (draw.normal(size=shape) * spread).astype(np.float32)


@pytest.mark.parametrize("shape", [(40, 60), (3, 40, 60)])
def test_int8_keeps_each_output_to_half_a_step(shape):
    value = drawn(*shape)
    found = stored_weights.rounded(value, "int8")
    step = np.abs(value).max(axis=-2, keepdims=True) / 127
    assert np.all(np.abs(found - value) <= step / 2 * (1 + 1e-5))
    stored, scales = stored_weights.quantised(value)
    assert stored.dtype == np.int8 and np.abs(stored.astype(int)).max() == 127
    assert scales.size == value.size / shape[-2]


def test_tables_have_a_scale_for_each_row():
    value = drawn(500, 8).T.copy().T * np.arange(500)[:, None]
    value = value.astype(np.float32)
    assert stored_weights.is_table(value.shape)
    stored, scales = stored_weights.quantised(value)
    assert scales.shape == (500, 1) and not stored[0].any()
    step = np.abs(value).max(axis=1, keepdims=True) / 127
    found = stored_weights.rounded(value, "int8")
    assert np.all(np.abs(found - value) <= step / 2 * (1 + 1e-5))


def test_rows_that_a_scale_would_make_longer_are_bfloat16():
    assert stored_weights.stored_as(drawn(5000, 4), "int8") == "bfloat16"
    assert stored_weights.stored_as(drawn(5000, 5), "int8") == "int8"
    # A matrix has a scale for each output, however few there are.
    assert stored_weights.stored_as(drawn(4, 5000), "int8") == "int8"
    value = drawn(5000, 2)
    found = stored_weights.rounded(value, "int8")
    np.testing.assert_array_equal(
        found, stored_weights.rounded(value, "bfloat16")
    )


def test_small_weights_and_others_than_numbers_stay():
    for value in (drawn(1, 5000)[0], drawn(10, 10), np.ones([99, 99], int)):
        for form in ("int8", "bfloat16"):
            assert stored_weights.rounded(value, form) is value


@pytest.mark.parametrize("form", ["int8", "bfloat16"])
def test_a_model_reads_what_is_stored(form):
    """As a whole and, of tables, row by row."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input([7], dtype="int32"),
            keras.layers.Embedding(900, 16),
            keras.layers.Dense(100),
        ]
    )
    tokens = tf.constant([[1, 5, 899, 0, 3, 3, 7]])
    before = model(tokens)
    stored = stored_weights.StoredWeights(model, form)
    assert len(stored.stored) == 2 and len(stored.others) == 1
    with stored.reading():
        found = tf.function(model)(tokens)
        table = model.layers[0].embeddings.value
        rows = tf.gather(table, tokens)
    np.testing.assert_array_equal(model(tokens), before)
    for weight in model.weights:
        value = keras.ops.convert_to_numpy(weight)
        weight.assign(stored_weights.rounded(value, form))
    np.testing.assert_allclose(found, model(tokens), atol=1e-6)
    expected = tf.gather(model.layers[0].embeddings.value, tokens)
    np.testing.assert_array_equal(rows, expected)
    assert np.max(np.abs(found - before)) > 0


@pytest.fixture(scope="module")
def run(tmp_path_factory, small_files):
    config = corpus.quick(small_files, epochs=1)
    config["model"]["embedding_dim"] = 100
    directory = str(tmp_path_factory.mktemp("run") / "quick")
    training_run.train(config, directory, strategy="one_device")
    return mtl_tf.load(directory)


@pytest.mark.slow
def test_the_c_loader_answers_as_the_rounded_model(tmp_path, run, caplog):
    version = saved_model.export(run, str(tmp_path), weights="int8")
    assert all(row["ok"] for row in check.check(version))
    whole = saved_model.export(run, str(tmp_path))
    small, large = (
        sum(
            os.path.getsize(os.path.join(path, "variables", name))
            for name in os.listdir(os.path.join(path, "variables"))
        )
        for path in (version, whole)
    )
    assert small < large
    # Each weight once, whatever the form.
    whole = 4 * sum(np.size(w) for w in run.model.get_weights())
    assert whole <= large < 1.2 * whole + 10_000
    with caplog.at_level("INFO", logger="absl"):
        change = stored_weights.change_of_scores(
            run, "int8", "test", (None, None)
        )
    # Of many tasks that takes longer than the scores.
    assert caplog.text.count("texts that no clean test example repeats") == 1
    assert set(change) == {"plain", "mirror"}
    metric, before, after = change["plain"]
    assert metric == "accuracy" and abs(after - before) <= 10
    # The run has the rounded weights by now.
    (answers,) = ask_each(version, [("mirror", TEXTS)])
    assert_scores(answers, run.predict("mirror", TEXTS))
    (found,) = latency.measure(version, 3, 20, "plain")
    assert found["signature"] == "plain" and found["words"] == 20
    assert 0 < found["median"] <= found["percentile_95"] < 10_000
    with pytest.raises(ConfigError, match="unknown task 'plan'"):
        latency.measure(version, 3, 20, "plan")


def test_an_unknown_split_is_told_before_anything_is_written(tmp_path, run):
    argv = ["saved_model", f"--model_dir={run.directory.path}"]
    argv += [f"--export_dir={tmp_path}", "--weights=int8"]
    argv += ["--score_split=valid"]
    with pytest.raises(ConfigError, match="did you mean 'validation'"):
        saved_model.main(runner.parse(saved_model.PROGRAM, argv))
    assert not os.listdir(tmp_path)


def test_a_version_that_exists_is_told_before_texts_are_scored(
    tmp_path, run, monkeypatch
):
    monkeypatch.setattr(stored_weights, "change_of_scores", pytest.fail)
    (tmp_path / "3").mkdir()
    argv = ["saved_model", f"--model_dir={run.directory.path}"]
    argv += [f"--export_dir={tmp_path}", "--weights=int8", "--version=3"]
    with pytest.raises(RunError, match="3 exists already"):
        saved_model.main(runner.parse(saved_model.PROGRAM, argv))
    assert os.listdir(tmp_path) == ["3"]


def test_unknown_forms(tmp_path, run):
    with pytest.raises(ConfigError, match="unknown weights 'int4'"):
        saved_model.export(run, str(tmp_path), weights="int4")
    assert not os.path.exists(tmp_path / "1")
