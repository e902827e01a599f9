import json
import os
import shutil

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.evaluation.clean import SeenTexts
from mtl_tf.runs import training_run
from tests.runs.charts import scalars
from tests.runs.helpers import (
    assert_same_weights,
    metrics,
    train_killed,
    weights,
)
from tests.system import corpus


def train(config, directory, **options):
    return training_run.train(config, str(directory), **options)


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


def test_parameters_of_several_models_are_summed():
    runs = [
        {"parameters": 9, "trainable_parameters": 7},
        # Of a version that counted what is trained alone.
        {"parameters": 5},
    ]
    runs = [one | {"parameters_without_embedding": 2} for one in runs]
    assert training_run.parameters_of(runs) == {
        "parameters": 14,
        "trainable_parameters": 12,
        "parameters_without_embedding": 4,
    }


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
    from mtl_tf.training import strategies

    strategies.STRATEGIES["shared"] = lambda: two_replicas
    try:
        results = train(
            corpus.config(toy_files), tmp_path / "a", strategy="shared"
        )
    finally:
        del strategies.STRATEGIES["shared"]
    assert results["mean"]["overall"] > 98


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("optimizer", "adagad", "unknown optimizer 'adagad'; did you mean"),
        ("loss_weighting", "statik", "unknown loss weighting 'statik'; did"),
    ],
)
def test_unknown_names_offer_the_nearest(
    tmp_path, small_files, field, value, message
):
    config = corpus.quick(small_files)
    if field == "optimizer":
        config["training"]["optimizer"]["name"] = value
    else:
        config["training"][field] = value
    with pytest.raises(ConfigError, match=message):
        train(config, tmp_path / "a")


def test_wrong_mixing_scheme_and_strategy(tmp_path, small_files):
    config = corpus.quick(small_files)
    config["pipeline"]["mixing"] = {"name": "unifrom"}
    with pytest.raises(ConfigError, match="did you mean 'uniform'"):
        train(config, tmp_path / "a")
    config = corpus.quick(small_files)
    config["model"]["scheme"] = {"name": "meta_lstn"}
    with pytest.raises(ConfigError, match="did you mean 'meta_lstm'"):
        train(config, tmp_path / "b")
    with pytest.raises(ConfigError, match="did you mean 'mirrored'"):
        train(corpus.quick(small_files), tmp_path / "c", strategy="mirored")


@pytest.mark.parametrize("separately", [False, True])
def test_a_task_that_cannot_be_scored_is_not_trained(
    tmp_path, toy_files, separately
):
    *others, last = toy_files
    files = {"train": last["files"]["train"]}
    config = corpus.config([*others, {**last, "files": files}], epochs=1)
    config["train_separately"] = separately
    run = tmp_path / "run"
    with pytest.raises(ConfigError, match="has no test split: "):
        training_run.train(config, str(run))
    assert not run.exists()


def test_a_malformed_line_is_named(tmp_path):
    entries = corpus.write(tmp_path, 1, {"train": 4, "test": 2})
    with open(entries[1]["files"]["train"], "a") as file:
        file.write("no tab here\n")
    with pytest.raises(DataError, match=r"mirror\.train\.tsv:5"):
        train(corpus.config(entries), tmp_path / "run")


@pytest.mark.extended
def test_single_runs_are_scored_on_the_clean_part_of_all_tasks(
    tmp_path, toy_run, toy_files, monkeypatch, points
):
    config = corpus.quick(toy_files, "lstm")
    config["train_separately"] = True
    made, read = SeenTexts.__init__, []
    monkeypatch.setattr(
        SeenTexts,
        "__init__",
        lambda self, *texts: (read.append(len(texts)), made(self, *texts))[1],
    )
    results = train(config, tmp_path / "a")
    assert len(points) == 2
    # Two splits of each task of the group, read once for both runs.
    assert read.count(2) == 2
    with open(os.path.join(toy_run, "results.json")) as file:
        joint = json.load(file)
    for name in ("plain", "mirror"):
        clean = results["tasks"][name]["clean"]["examples"]
        assert clean == joint["tasks"][name]["clean"]["examples"]
        assert os.path.exists(tmp_path / "a" / "tasks" / name / "best")
    assert results["mean"]["overall"] > 95
    assert results["run"]["parameters"] > 0
    with pytest.raises(RunError, match="holds one run for each task"):
        mtl_tf.load(str(tmp_path / "a"))
    run = mtl_tf.load(str(tmp_path / "a" / "tasks" / "plain"))
    assert [t["name"] for t in run.tasks] == ["plain"]


@pytest.mark.parametrize(
    ("shared", "steps", "every"), [(False, 9, 4), (True, 5, 2)]
)
def test_single_runs_have_the_steps_or_their_share_of_them(
    tmp_path, toy_files, monkeypatch, shared, steps, every
):
    config = corpus.config(toy_files, steps=9)
    config["train_separately"] = True
    config["training"].update(share_steps=shared, min_steps=0, evaluate_every=4)
    joint, trained = training_run._train, []

    def train_one(config, folder, session):
        if config["train_separately"]:
            return joint(config, folder, session)
        trained.append(config["training"])
        raise RunError("enough")

    monkeypatch.setattr(training_run, "_train", train_one)
    with pytest.raises(RunError, match="enough"):
        train(config, tmp_path / "a")
    (training,) = trained
    assert (training["steps"], training["evaluate_every"]) == (steps, every)
    assert training["min_steps"] == 0


def test_models_of_single_tasks_go_on_with_code_that_moved(
    tmp_path, toy_files, monkeypatch
):
    config = corpus.config(toy_files, steps=1)
    config["train_separately"] = True

    def stop(config, run, session):
        os.makedirs(run.file("tasks"), exist_ok=True)
        raise RunError("enough")

    monkeypatch.setattr(training_run, "_train_separately", stop)
    file = tmp_path / "mine.py"
    file.write_text("def flat(progress, step, warmup):\n    return 1.0\n")
    for _ in range(2):
        optimizer = config["training"]["optimizer"]
        optimizer["schedule"] = f"{file}:flat"
        with pytest.raises(RunError, match="enough"):
            train(config, tmp_path / "run")
        (tmp_path / "b").mkdir(exist_ok=True)
        file = file.rename(tmp_path / "b" / "mine.py")


PHASES = [{"tasks": [name], "steps": 1} for name in ("plain", "mirror")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mixing",
    [
        {"name": "phases", "phases": PHASES},
        {"name": "weighted", "weights": {"plain": 2.0, "mirror": 1.0}},
    ],
)
def test_mixings_that_name_other_tasks_are_not_those_of_a_single_model(
    tmp_path, toy_files, mixing
):
    config = corpus.config(toy_files, steps=1)
    config["train_separately"] = True
    config["pipeline"]["mixing"] = mixing
    results = train(config, tmp_path / "a")
    assert set(results["tasks"]) == {"plain", "mirror"}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("scheme", {"name": "ssp", "meta_units": 3}, "no option 'meta_units'"),
        ("scheme", {"name": "asp", "pooling": "attention"}, "pooling of asp"),
        ("characters", {"name": "cnn", "filter": 3}, "no option 'filter'"),
        ("init", {"name": "orthogonal"}, "unknown init.name 'orthogonal'"),
    ],
)
def test_a_wrong_model_is_refused_before_any_text_is_read(
    tmp_path, toy_files, field, value, message
):
    config = corpus.quick(toy_files, "lstm", epochs=1)
    config["model"][field] = value
    with pytest.raises(ConfigError, match=message):
        training_run.train(config, str(tmp_path / "a"))
    assert not (tmp_path / "a" / "config.json").exists()


def test_a_wrong_mixing_is_refused_before_any_text_is_read(tmp_path, toy_files):
    config = corpus.config(toy_files, steps=1)
    weights = {"plain": 2.0, "miror": 1.0}
    config["pipeline"]["mixing"] = {"name": "weighted", "weights": weights}
    with pytest.raises(ConfigError, match="'miror'; did you mean 'mirror'"):
        train(config, tmp_path / "a")
    assert not (tmp_path / "a" / "config.json").exists()


@pytest.mark.extended
@pytest.mark.parametrize(
    "scope", ["private", pytest.param("all", marks=pytest.mark.slow)]
)
def test_fine_tuning(tmp_path, toy_files, scope, monkeypatch):
    config = corpus.quick(
        toy_files,
        "lstm",
        epochs=2,
        steps_per_epoch=30,
        fine_tune={"epochs": 1, "scope": scope, "learning_rate": 0.005},
    )
    with monkeypatch.context() as patched:
        # The scores come from the model that was trained, not from another.
        patched.delattr("mtl_tf.runs.loading.build")
        results = train(config, tmp_path / "a")
    assert results["mean"]["overall"] > 98
    entries = metrics(tmp_path / "a")
    ends = [e["step"] for e in entries if e["stage"] == "joint"]
    assert ends == [30, 60]
    # What counts as an epoch is the joint training's, not the tuning's.
    assert entries[-1]["step"] == (60 if scope == "private" else 30)
    run = mtl_tf.load(str(tmp_path / "a"))
    assert run.evaluate("test")["tasks"] == results["tasks"]
    folders = {run.weights_for(t) for t in ("plain", "mirror")}
    assert len(folders) == (1 if scope == "private" else 2)
    joint, tuned = weights(tmp_path / "a"), {}
    for folder in folders:
        tuned = weights(os.path.dirname(folder))
        moved = {k for k in joint if not np.array_equal(joint[k], tuned[k])}
        shared = {k for k in moved if "scheme" in k or "embedding" in k}
        with open(os.path.join(folder, "best.json")) as file:
            if json.load(file)["step"]:
                assert moved
        if scope == "private":
            assert not shared
    charts = os.path.join(tmp_path, "a", "tensorboard")
    assert {"plain", "mirror", "mean"} < set(os.listdir(charts))
    for stage in {e["stage"] for e in entries}:
        folder = os.path.join(charts, "" if stage == "joint" else stage)
        history = [e for e in entries if e["stage"] == stage]
        means = {e["step"]: e["validation"]["mean"] for e in history}
        drawn = scalars(os.path.join(folder, "mean"), "validation/mean")
        assert drawn == pytest.approx(means)
        for task in history[0]["validation"]["tasks"]:
            losses = {e["step"]: e["train_loss"][task] for e in history}
            drawn = scalars(os.path.join(folder, task), "train/loss")
            assert drawn == pytest.approx(losses)


@pytest.mark.parametrize(
    "scope", ["private", pytest.param("all", marks=pytest.mark.slow)]
)
def test_the_validation_score_is_that_of_the_fine_tuned_weights(
    tmp_path, toy_files, scope
):
    tuning = {"epochs": 1, "scope": scope, "learning_rate": 0.005}
    config = corpus.quick(toy_files, "lstm", steps=1, fine_tune=tuning)
    about = train(config, tmp_path / "a")["run"]
    folders = {"private": ["."], "all": ["plain", "mirror"]}[scope]
    tuned = [tmp_path / "a" / "fine_tuned" / f / "best" for f in folders]
    best = [json.loads((one / "best.json").read_text()) for one in tuned]
    mean = np.mean([one["score"] for one in best])
    assert about["validation_mean"] == pytest.approx(mean)
    joint = json.loads((tmp_path / "a" / "best" / "best.json").read_text())
    assert about["validation_mean"] > joint["score"]


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
    with pytest.raises(RunError, match="is not a run directory"):
        mtl_tf.load(str(tmp_path / "absent"))


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


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("name", "keras.optimizers:Nope", "has no class 'Nope'"),
        ("schedule", "no_such_file.py:stairs", "there is no file"),
        ("options", {"momentun": 0.5}, "momentun"),
    ],
)
def test_a_wrong_optimizer_leaves_no_run(
    tmp_path, small_files, field, value, message
):
    config = corpus.config(small_files, steps=1)
    config["training"]["optimizer"][field] = value
    with pytest.raises(ConfigError, match=message):
        training_run.train(config, str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
