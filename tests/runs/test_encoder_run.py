"""A run on a pretrained encoder, from its config to its export."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mtl_tf
from mtl_tf.config_fields.validation import validate
from mtl_tf.configs import base, starter
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from mtl_tf.text.pretrained import presets
from tests.runs.encoder_runs import ADAPTERS, config_of, made
from tests.runs.helpers import assert_same_weights, train_killed
from tests.system import corpus
from tests.text import small_presets

SIZES = {"train": 80, "validation": 40, "test": 40}
WIDE = base.default_config().model.wide.to_dict()
TEXTS = ["the yes tree no stone", "", "no a yes of", "zzz " * 60]


@pytest.fixture(scope="module")
def preset(tmp_path_factory):
    return small_presets.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return corpus.write(tmp_path_factory.mktemp("files"), 1, SIZES)


@pytest.fixture(scope="module")
def trained(preset, entries, tmp_path_factory):
    """A run whose preset is gone."""
    folder = tmp_path_factory.mktemp("runs")
    copied, run = str(folder / "preset"), str(folder / "run")
    shutil.copytree(preset, copied)
    training_run.train(config_of(entries, copied), run)
    shutil.rmtree(copied)
    return run


@pytest.mark.extended
def test_a_run_needs_its_preset_no_more(trained):
    """A fresh process predicts as this one does."""
    expected = mtl_tf.load(trained).predict("plain", TEXTS)
    program = (
        "import json, sys, mtl_tf; run = mtl_tf.load(sys.argv[1]); "
        "print(json.dumps(run.predict('plain', json.loads(sys.argv[2]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, trained, json.dumps(TEXTS)],
        capture_output=True,
        check=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    for one, other in zip(found, expected, strict=True):
        assert one["scores"] == pytest.approx(other["scores"], abs=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize("options", [{}, ADAPTERS])
def test_kill_9_ends_with_the_same_weights(options, preset, entries, tmp_path):
    """Also of dropout inside the encoder, and of adapters."""
    config = config_of(entries, preset, **options)
    training_run.train(config, str(tmp_path / "whole"))
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(config, str(tmp_path / "a"), 3)
    assert not os.path.exists(tmp_path / "a" / "results.json")
    training_run.train(config, str(tmp_path / "a"))
    assert_same_weights(tmp_path / "a", tmp_path / "whole")


def test_a_new_run_starts_from_the_weights_of_the_preset(
    preset, entries, tmp_path
):
    model = made(config_of(entries, preset), tmp_path)
    backbone = presets.load_backbone(preset)
    own = {v.path.partition("encoder/")[2]: v for v in model.variables}
    taken = [v for v in backbone.weights if v.path in own]
    assert len(taken) > 30
    for weight in taken:
        np.testing.assert_array_equal(weight.numpy(), own[weight.path].numpy())


@pytest.mark.extended
@pytest.mark.parametrize("scheme", ["lstm", "s_p"])
def test_sharing_schemes_stand_above_a_frozen_encoder(
    scheme, preset, entries, tmp_path
):
    config = config_of(entries, preset, scheme, trainable=False)
    config["model"]["scheme"]["units"] = 6
    if scheme == "s_p":
        config["model"]["scheme"] |= {"layers": 1, "heads": 2}
    before = presets.load_backbone(preset)
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    own = {v.path.partition("encoder/")[2]: v for v in run.model.variables}
    for weight in before.weights:
        if weight.path in own:
            np.testing.assert_array_equal(
                weight.numpy(), own[weight.path].numpy()
            )


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("text.vectors", "a.txt", "text.vectors has no use with model.encoder"),
        ("text.max_size", 9, "text.max_size has no use"),
        ("model.word_dropout", 0.1, "model.word_dropout has no use"),
        ("model.casing_dim", 3, "model.casing_dim has no use"),
        (
            "model.wide",
            {**WIDE, "character_ngrams": 5},
            "model.wide.character_ngrams has no use",
        ),
    ],
)
def test_what_only_word_vectors_have_is_refused(path, value, message, entries):
    config = config_of(entries, "somewhere")
    part, name = path.split(".")
    config[part][name] = value
    with pytest.raises(ConfigError, match=message):
        validate(config)


def test_a_config_of_words_is_told_all_that_an_encoder_has_no_use_for():
    """At once, and what to start from instead."""
    config = starter.get_config().to_dict()
    config["model"]["encoder"]["preset"] = "somewhere"
    with pytest.raises(ConfigError) as raised:
        validate(config)
    for words in (
        "text.casing, text.characters.max_word_length, ",
        "model.casing_dim and model.wide.character_ngrams have no use",
        "a config for an encoder is --config=encoder",
    ):
        assert words in str(raised.value)


def test_options_without_a_preset_are_refused(entries):
    config = config_of(entries, "", frozen_layers=1)
    with pytest.raises(ConfigError, match="nothing without model.encoder.pres"):
        validate(config)


def test_another_tokenizer_is_refused(entries, preset, tmp_path):
    config = config_of(entries, preset)
    config["text"]["tokenizer"] = {"name": "sentencepiece"}
    with pytest.raises(ConfigError, match="tokenizer of its own"):
        made(config, tmp_path)


def test_a_folder_that_is_no_preset_is_refused(entries, tmp_path):
    config = config_of(entries, str(tmp_path))
    with pytest.raises(ConfigError, match="has no config.json"):
        made(config, tmp_path / "run")


@pytest.mark.parametrize(
    "encoder, message",
    [
        ({"frozen_layers": 3}, "frozen_layers must be at most 2, .* got 3"),
        ({"lora_rank": 2, "lora_targets": ("querry",)}, "mean 'query'"),
        ({"projected_attention_units": 5}, "multiple of .*got 5"),
    ],
)
def test_wrong_options_are_told_before_anything_is_written(
    encoder, message, entries, preset, tmp_path
):
    config = config_of(entries, preset, **encoder)
    for separately in (False, True):
        config["train_separately"] = separately
        with pytest.raises(ConfigError, match=message):
            training_run.train(config, str(tmp_path / "run"))
        assert not os.path.exists(tmp_path / "run")
