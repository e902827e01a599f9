"""A run from its config to its results, and what it leaves."""

import json
import os
import shutil

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import DataError, RunError
from mtl_tf.runs.data import run_data
from tests.runs.helpers import (
    assert_same_weights,
    metrics,
    train,
    train_killed,
    weights,
)
from tests.system import corpus


def test_a_run_leaves_what_the_architecture_promises(toy_run):
    names = set(os.listdir(toy_run))
    assert names >= {
        "config.json",
        "vocabulary",
        "labels.json",
        "checkpoints",
        "best",
        "metrics.jsonl",
        "tensorboard",
        "results.json",
        "results.md",
    }
    with open(os.path.join(toy_run, "results.json")) as file:
        results = json.load(file)
    assert results["split"] == "test"
    assert results["mean"]["overall"] > 98
    assert results["tasks"]["mirror"]["examples"] == 200
    assert 0 < results["tasks"]["plain"]["clean"]["examples"] <= 200
    assert results["run"]["parameters"] > 1000
    assert results["run"]["seed"] == 3
    entries = metrics(toy_run)
    assert [e["step"] for e in entries] == [60, 120]
    assert set(entries[0]["train_loss"]) == {"plain", "mirror"}
    events = os.path.join(toy_run, "tensorboard")
    assert {"plain", "mirror", "mean"} <= set(os.listdir(events))


def test_all_weights_are_in_the_best_checkpoint(toy_run):
    run = mtl_tf.load(toy_run)
    assert len(weights(toy_run)) == len(run.model.variables)


def test_a_finished_run_returns_its_results(toy_run, toy_files):
    before = os.path.getmtime(os.path.join(toy_run, "metrics.jsonl"))
    results = train(corpus.config(toy_files), toy_run)
    assert results["mean"]["overall"] > 98
    after = os.path.getmtime(os.path.join(toy_run, "metrics.jsonl"))
    assert before == after


def test_a_new_run_reads_its_tasks_once(tmp_path, small_files, monkeypatch):
    calls, tasks_of = [], run_data.tasks_of

    def counted(*arguments):
        calls.append(arguments)
        return tasks_of(*arguments)

    monkeypatch.setattr(run_data, "tasks_of", counted)
    config = corpus.config(small_files)
    config["training"]["epochs"] = 1
    train(config, tmp_path / "run")
    assert len(calls) == 1


def test_another_config_is_refused_and_the_difference_shown(toy_run, toy_files):
    config = corpus.config(toy_files, l2=0.5)
    with pytest.raises(RunError, match=r"training.l2: 1e-05 there, 0.5 asked"):
        train(config, toy_run)


@pytest.mark.slow
def test_a_longer_training_equals_one_that_was_long_at_once(
    tmp_path, toy_run, toy_files
):
    shutil.copytree(toy_run, tmp_path / "a")
    longer = corpus.config(toy_files, epochs=3)
    continued = train(longer, tmp_path / "a")
    whole = train(longer, tmp_path / "b")
    assert_same_weights(tmp_path / "a", tmp_path / "b")
    assert continued["tasks"] == whole["tasks"]


@pytest.mark.extended
def test_kill_9_mid_epoch_ends_with_the_same_weights(tmp_path, small_files):
    config = corpus.quick(small_files)
    config["model"]["dropout"] = {"embedding": 0.2, "head": 0.2}
    whole = train(config, tmp_path / "whole")
    # Neither changes the result; they make states to be killed at.
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(config, tmp_path / "a", 9)
    assert not os.path.exists(tmp_path / "a" / "results.json")
    assert len(metrics(tmp_path / "a")) == 1
    results = train(config, tmp_path / "a")
    assert_same_weights(tmp_path / "a", tmp_path / "whole")
    assert results["tasks"] == whole["tasks"]
    assert metrics(tmp_path / "a") == metrics(tmp_path / "whole")


def test_changed_data_are_noticed(tmp_path):
    sizes = {"train": 40, "validation": 20, "test": 20}
    entries = corpus.write(tmp_path, 1, sizes)
    config = corpus.quick(entries, epochs=1)
    train(config, tmp_path / "run")
    with open(entries[0]["files"]["train"], "a") as file:
        file.write("1\tyes a stone no\n")
    config["training"]["epochs"] = 2
    with pytest.raises(RunError, match="data changed .* tasks.plain.train"):
        train(config, tmp_path / "run")


def test_two_runs_in_one_directory_are_refused(tmp_path, toy_files):
    from mtl_tf.core import files

    with files.locked(str(tmp_path)):
        with pytest.raises(RunError, match="in use by another process"):
            train(corpus.config(toy_files), tmp_path)


@pytest.mark.slow
def test_mirrored_learns_the_same_tasks(tmp_path, toy_files, two_replicas):
    from mtl_tf.training.distribution import strategies

    strategies.STRATEGIES["shared"] = lambda: two_replicas
    try:
        results = train(
            corpus.config(toy_files), tmp_path / "a", strategy="shared"
        )
    finally:
        del strategies.STRATEGIES["shared"]
    assert results["mean"]["overall"] > 98


@pytest.mark.slow
def test_joint_steps_with_uncertainty_weights(tmp_path, toy_files):
    config = corpus.config(
        toy_files,
        epochs=4,
        loss_weighting="uncertainty",
        clip_norm=5.0,
        jit=True,
    )
    config["pipeline"]["mixing"] = {"name": "joint"}
    results = train(config, tmp_path / "a")
    assert results["mean"]["overall"] > 98
    last = metrics(tmp_path / "a")[-1]
    assert all(weight > 1.0 for weight in last["loss_weights"].values())


def test_a_directory_that_is_no_run(tmp_path):
    with pytest.raises(RunError, match="is not a run directory"):
        mtl_tf.load(str(tmp_path))
    with pytest.raises(RunError, match="absent does not exist$"):
        mtl_tf.load(str(tmp_path / "absent"))
    (tmp_path / "quickstart").mkdir()
    near = str(tmp_path / "quickstart")
    match = f"quikstart/? does not exist; did you mean {near}[?]"
    with pytest.raises(RunError, match=match):
        mtl_tf.load(str(tmp_path / "quikstart/"))


def test_damaged_best_weights_are_named(tmp_path, toy_run):
    shutil.copytree(toy_run, tmp_path / "a")
    folder = tmp_path / "a" / "best"
    for name in os.listdir(folder):
        if ".data" in name:
            with open(folder / name, "r+b") as file:
                file.truncate(100)
    with pytest.raises(RunError, match="cannot read the weights"):
        mtl_tf.load(str(tmp_path / "a"))


@pytest.mark.extended
def test_pretrained_vectors_are_loaded_and_their_coverage_told(
    tmp_path, small_files
):
    rng = np.random.default_rng(0)
    words = ["yes", "no", "the", "unused"]
    with open(tmp_path / "vectors.txt", "w") as file:
        for word in words:
            numbers = " ".join(f"{x:.4f}" for x in rng.normal(size=16))
            file.write(f"{word} {numbers}\n")
    config = corpus.quick(small_files, steps=1)
    config["text"]["vectors"] = str(tmp_path / "vectors.txt")
    config["model"]["embedding_trainable"] = False
    train(config, tmp_path / "run")
    run = mtl_tf.load(str(tmp_path / "run"))
    row = run.encoder.vocabulary.tokens.index("no")
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=16) for _ in words][1]
    about = run.results["run"]
    frozen = about["parameters"] - about["trainable_parameters"]
    assert frozen == len(run.encoder.vocabulary.tokens) * 16
    got = run.model.embedding.vectors.numpy()[row]
    np.testing.assert_allclose(got, expected, atol=1e-4)
    with open(tmp_path / "run" / "vectors.json") as file:
        report = json.load(file)
    assert report["found"] == 3
    assert [t["name"] for t in report["tasks"]] == ["plain", "mirror"]
    assert report["tasks"][0]["types_found"] == 3
    config["model"]["embedding_dim"] = 15
    with pytest.raises(DataError, match=r"vectors\.txt:1"):
        train(config, tmp_path / "wrong")


@pytest.mark.extended
@pytest.mark.parametrize(
    "separately", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_a_fold_is_tested_and_never_trained_on(tmp_path, separately):
    entries = corpus.write(tmp_path, 5, {"train": 60, "validation": 30})
    config = corpus.quick(entries, steps=2)
    config["train_separately"] = separately
    config["cross_validation"] = {"folds": 2, "fold": 1}
    results = train(config, tmp_path / "run")
    for scores in results["tasks"].values():
        assert scores["examples"] == pytest.approx(45, abs=1)
        # All but the texts that a file has twice.
        assert scores["clean"]["examples"] > 40
    folder = ("tasks", "plain") if separately else ()
    run = mtl_tf.load(str(tmp_path.joinpath("run", *folder)))
    plain = run.evaluate(tasks=["plain"])["tasks"]["plain"]
    assert plain == results["tasks"]["plain"]
    sizes = run.directory.read("data.json")["tasks"]["plain"]
    assert sizes["validation"]["examples"] == 4
    assert sizes["train"]["examples"] == 90 - 4 - plain["examples"]
