"""Runs that choose on validation examples what heads read beside n-grams."""

import json
import pathlib

import numpy as np
import pytest

import mtl_tf
from mtl_tf.prediction import calibrating
from mtl_tf.runs import training_run
from mtl_tf.runs.stages import model_to_train
from mtl_tf.training.distribution import strategies
from tests.runs.helpers import assert_same_weights, train_killed, weights
from tests.system import corpus

SIZES = {"train": 60, "validation": 40, "test": 20}


def config_of(folder, scheme="lstm", **training):
    """A part that tells the order of words if it is recurrent, and n-grams."""
    entries = corpus.write(folder, 1, SIZES)
    config = corpus.quick(entries, scheme, **training)
    config["model"]["wide"] |= {"buckets": 64, "alone": 0.5}
    return config


def shares(directory):
    (found,) = [v for k, v in weights(directory).items() if "shares" in k]
    return found


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    config = config_of(folder)
    return training_run.train(config, str(folder / "run")), folder / "run"


def test_results_tell_what_the_weights_hold(trained):
    results, directory = trained
    told = results["run"]["encoder_shares"]
    np.testing.assert_allclose([*told.values()], shares(directory))
    assert list(told) == ["plain", "mirror"]
    page = (directory / "results.md").read_text()
    assert "share of the encoder beside n-grams" in page


def test_the_share_is_that_of_the_best_weights(trained):
    """Not of later ones, whose encoder is another."""
    results, directory = trained
    run = mtl_tf.load(str(directory))
    best = run.evaluate("validation")["mean"]["overall"]
    assert best == pytest.approx(results["run"]["validation_mean"])


def test_each_task_ends_with_what_its_validation_chose(tmp_path, monkeypatch):
    chosen = {"plain": 3, "mirror": 5}
    monkeypatch.setattr(
        calibrating, "best_choice", lambda task, *_: chosen[task["name"]]
    )
    config = config_of(tmp_path, "nbow", epochs=1)
    results = training_run.train(config, str(tmp_path / "run"))
    told = results["run"]["encoder_shares"]
    assert told == {"plain": 0.4, "mirror": 0.0}
    model = mtl_tf.load(str(tmp_path / "run")).predictor.model
    assert [model.chosen(task) for task in range(2)] == [0.4, 0.0]


@pytest.mark.extended
@pytest.mark.parametrize("at_once", [(256, 16_384), (7, 20)])
def test_ngrams_are_counted_in_the_texts_to_train_on(
    tmp_path, monkeypatch, at_once
):
    texts, tokens = at_once
    monkeypatch.setattr(model_to_train, "_TEXTS_AT_ONCE", texts)
    monkeypatch.setattr(model_to_train, "_TOKENS_AT_ONCE", tokens)
    config = config_of(tmp_path, epochs=1)
    config["model"]["wide"] |= {"idf": True, "word_ngrams": 1}
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    lines = [
        {*line.split("\t")[1].split()}
        for entry in config["tasks"]
        for line in pathlib.Path(entry["files"]["train"])
        .read_text()
        .splitlines()
    ]
    wide = run.predictor.model.wide
    words = run.encoder.vocabulary.tokens
    numbers, _ = wide.ngrams(np.arange(len(words), dtype=np.int32)[None, None])
    bucket = dict(zip(words, numbers.numpy()[0, 0], strict=True))
    counts = np.zeros([wide.buckets])
    for line in lines:
        counts[[*{bucket[word] for word in line}]] += 1
    expected = np.log((1 + len(lines)) / (1 + counts)) + 1
    np.testing.assert_allclose(
        wide.weights_of_ngrams.numpy(),
        np.where(counts, expected, 0),
        rtol=1e-5,
    )


@pytest.mark.extended
def test_a_killed_run_ends_with_the_same_shares(tmp_path):
    config = config_of(tmp_path, checkpoint_seconds=0)
    config["model"]["wide"] |= {"idf": True, "encoder_alone": 0.25}
    config["training"]["optimizer"]["wide_name"] = "novograd"
    training_run.train(config, str(tmp_path / "whole"))
    train_killed(config, str(tmp_path / "killed"), 3)
    training_run.train(config, str(tmp_path / "killed"))
    assert_same_weights(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.extended
def test_a_run_of_before_has_no_shares(tmp_path):
    """Version 4 of configs knew `alone` and no choice."""
    config = config_of(tmp_path, epochs=1)
    config["model"]["wide"]["choose_shares"] = False
    results = training_run.train(config, str(tmp_path / "run"))
    assert "encoder_shares" not in results["run"]
    path = tmp_path / "run" / "config.json"
    stored = json.loads(path.read_text())
    del stored["model"]["wide"]["choose_shares"]
    path.write_text(json.dumps(stored | {"version": 4}))
    (tmp_path / "run" / "digests.json").unlink()
    run = mtl_tf.load(str(tmp_path / "run"))
    assert run.config["model"]["wide"]["choose_shares"] is False
    assert run.evaluate("test")["tasks"] == results["tasks"]


@pytest.mark.extended
def test_replicas_choose(tmp_path, two_replicas, monkeypatch):
    monkeypatch.setitem(strategies.STRATEGIES, "two", lambda: two_replicas)
    config = config_of(tmp_path)
    results = training_run.train(config, str(tmp_path / "two"), strategy="two")
    told = results["run"]["encoder_shares"]
    np.testing.assert_allclose([*told.values()], shares(tmp_path / "two"))


@pytest.mark.extended
def test_types_that_read_tokens_have_no_share(tmp_path):
    config = config_of(tmp_path)
    path = tmp_path / "tags.jsonl"
    line = {"tokens": ["yes", "no"], "tags": ["A", "B"]}
    path.write_text(f"{json.dumps(line)}\n" * 20)
    files = dict.fromkeys(("train", "validation", "test"), str(path))
    tags = {"name": "tags", "type": "tagging", "files": files}
    config["tasks"] = [*config["tasks"], tags]
    results = training_run.train(config, str(tmp_path / "run"))
    assert list(results["run"]["encoder_shares"]) == ["plain", "mirror"]


@pytest.mark.extended
def test_tasks_with_weights_of_their_own_have_their_shares(tmp_path):
    config = config_of(tmp_path, epochs=4, best_per_task=True)
    results = training_run.train(config, str(tmp_path / "run"))
    told = results["run"]["encoder_shares"]
    for number, name in enumerate(("plain", "mirror")):
        kept = shares(tmp_path / "run" / "best_per_task" / name)
        assert told[name] == pytest.approx(kept[number])
