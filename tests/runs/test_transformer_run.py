"""A Transformer trained from a config: its batches and its precision."""

import json
import os
import shutil

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.runs import training_run
from tests.system import corpus

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

HALF = "mixed_bfloat16"


def read(directory, name):
    with open(os.path.join(directory, name)) as file:
        return json.load(file)


@pytest.mark.extended
def test_a_run_is_loaded_in_its_precision(transformer_run):
    assert read(transformer_run, "config.json")["training"][
        "mixed_precision"
    ] == (HALF)
    run = mtl_tf.load(transformer_run)
    assert run.model.scheme.compute_dtype == "bfloat16"
    assert {v.dtype for v in run.model.variables} == {"float32"}
    # The graph is that of the shapes seen so far, and bfloat16 rounds to three
    # digits otherwise in another graph. Training saw the validation split.
    run.evaluate("validation")
    results = read(transformer_run, "results.json")
    assert run.evaluate("test")["tasks"] == results["tasks"]


def test_every_epoch_has_as_many_steps_as_full_batches(transformer_run):
    # 600 texts a task, 20 a batch, whatever the number of buckets.
    assert read(transformer_run, "batches.json") == {"steps_per_epoch": 60}


def test_the_config_says_what_bucket_lengths_are_multiples_of(transformer_run):
    # The longest text has 9 words; multiples of 8 would end at 16.
    assert read(transformer_run, "data.json")["boundaries"][-1] == 9


def test_a_run_does_not_go_on_with_other_batches(transformer_run, tmp_path):
    directory = str(tmp_path / "run")
    shutil.copytree(transformer_run, directory)
    with open(os.path.join(directory, "batches.json"), "w") as file:
        json.dump({"steps_per_epoch": 61}, file)
    config = read(directory, "config.json")
    config["training"]["epochs"] = 2
    with pytest.raises(RunError, match="the plan of the batches .* changed"):
        training_run.train(config, directory)


@pytest.mark.extended
def test_float16_trains_and_scales_its_loss(small_files, tmp_path):
    config = corpus.transformer(
        small_files,
        "s_p",
        1,
        steps=8,
        epochs=1,
        mixed_precision="mixed_float16",
    )
    results = training_run.train(config, str(tmp_path))
    assert np.isfinite(results["mean"]["overall"])
    config["training"]["gradient_surgery"] = "pcgrad"
    config["pipeline"]["mixing"] = {"name": "joint"}
    with pytest.raises(ConfigError, match="which gradients task by task do"):
        training_run.train(config, str(tmp_path / "pcgrad"))


def test_float16_on_replicas_is_refused(two_replicas):
    from mtl_tf.training.optimizers.stage_optimizer import loss_scaled

    with two_replicas.scope():
        with pytest.raises(ConfigError, match="on one replica, not on 2"):
            loss_scaled(None, [])


def test_an_unknown_precision_is_refused(toy_files, tmp_path):
    config = corpus.transformer(toy_files, mixed_precision="mixed_bfloat15")
    with pytest.raises(ConfigError, match="did you mean 'mixed_bfloat16'"):
        training_run.train(config, str(tmp_path))
