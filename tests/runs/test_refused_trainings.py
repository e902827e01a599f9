"""Trainings that are refused before they begin."""

import pytest

from mtl_tf.core.errors import ConfigError, DataError, MtlError
from tests.runs.helpers import train
from tests.system import corpus


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


OWN_WEIGHTINGS = """
from mtl_tf.training.loss_weighting import AdaptedWeights

class Norms(AdaptedWeights):
    adapts = True

class Sum(AdaptedWeights):
    def call(self, task, loss):
        return loss[0]
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Norms", "Norms' reads the tasks' gradients .* got 'uniform'"),
        ("Sum", r"Sum cannot be used: of losses of shape \[1\]"),
    ],
)
def test_a_loss_weighting_that_cannot_work(
    tmp_path, small_files, name, message
):
    (tmp_path / "mine.py").write_text(OWN_WEIGHTINGS)
    config = corpus.quick(small_files)
    config["training"]["loss_weighting"] = f"{tmp_path}/mine.py:{name}"
    with pytest.raises(ConfigError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


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
        train(config, run)
    assert not run.exists()


def test_a_malformed_line_is_named(tmp_path):
    entries = corpus.write(tmp_path, 1, {"train": 4, "test": 2})
    with open(entries[1]["files"]["train"], "a") as file:
        file.write("no tab here\n")
    with pytest.raises(DataError, match=r"mirror\.train\.tsv:5"):
        train(corpus.config(entries), tmp_path / "run")


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
        train(config, tmp_path / "a")
    assert not (tmp_path / "a" / "config.json").exists()


def test_a_wrong_mixing_is_refused_before_any_text_is_read(tmp_path, toy_files):
    config = corpus.config(toy_files, steps=1)
    weights = {"plain": 2.0, "miror": 1.0}
    config["pipeline"]["mixing"] = {"name": "weighted", "weights": weights}
    with pytest.raises(ConfigError, match="'miror'; did you mean 'mirror'"):
        train(config, tmp_path / "a")
    assert not (tmp_path / "a" / "config.json").exists()


def test_a_wrong_part_of_a_task_is_refused_before_any_text_is_read(
    tmp_path, toy_files
):
    config = corpus.config(toy_files, steps=1)
    config["pipeline"]["fractions"] = {"miror": 0.5}
    with pytest.raises(ConfigError, match="'miror'; did you mean 'mirror'"):
        train(config, tmp_path / "a")
    assert not (tmp_path / "a" / "config.json").exists()


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
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ({"name": "keras.optimizers:Adam"}, "must be a class of .*Tokenizer"),
        ({"name": "no_such_file.py:Words"}, "there is no file"),
        ({"name": "regex", "lowercase": True, "pattern": "("}, "pattern"),
    ],
)
def test_a_wrong_tokenizer_leaves_no_run(
    tmp_path, small_files, tokenizer, message
):
    config = corpus.config(small_files, steps=1)
    config["text"]["tokenizer"] = tokenizer
    with pytest.raises(ConfigError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("group", "changes", "message"),
    [
        ("text", {"vectors": "gone.txt"}, "gone.txt: No such file"),
        ("text", {"vectors": "{tmp}/short.txt"}, "short.txt:1: 1 numbers"),
        ("model", {"encoder": {"preset": "./gone"}}, "must be a folder"),
        ("training", {"initialize_from": "gone"}, "gone does not exist"),
        ("training", {"teachers": ["gone"]}, "teachers: gone does not exist"),
        ("training", {"freeze": ["schme"]}, "'schme' names no trainable"),
        ("training", {"initialize_only": ["x"]}, "only: 'x' names no train"),
        (
            "training",
            {"gradient_surgery": "pcgrad", "accumulate_steps": 2},
            "accumulate_steps must be 1",
        ),
    ],
)
def test_what_a_training_starts_from_is_checked_before_texts_are_read(
    tmp_path, toy_files, group, changes, message
):
    (tmp_path / "short.txt").write_text("word 0.5\n")
    config = corpus.quick(toy_files, "lstm", epochs=1)
    config["pipeline"]["mixing"] = {"name": "joint"}
    for name, value in changes.items():
        if isinstance(value, str):
            value = value.format(tmp=tmp_path)
        config[group][name] = value
    with pytest.raises(MtlError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
