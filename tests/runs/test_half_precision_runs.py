"""Whole runs of every kind of model in half precision."""

import json

import numpy as np
import pytest

import mtl_tf
from mtl_tf.runs import training_run
from tests.runs.helpers import assert_same_weights, train_killed
from tests.system import families

KINDS = [
    "meta_lstm",
    "translation",
    "answering",
    *(
        pytest.param(kind, marks=pytest.mark.slow)
        for kind in ("tagging", "wide")
    ),
]


def config_of(kind, folder, precision, steps=6):
    config = families.write(folder, [kind], steps)[kind]
    config["training"]["mixed_precision"] = precision
    return config


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_run_in_bfloat16_ends_as_another(kind, tmp_path):
    config = config_of(kind, tmp_path, "mixed_bfloat16")
    whole, killed = str(tmp_path / "whole"), str(tmp_path / "killed")
    training_run.train(config, whole)
    train_killed(config, killed, 2)
    training_run.train(config, killed)
    assert_same_weights(whole, killed)
    run = mtl_tf.load(whole)
    policies = {
        layer.dtype_policy.name for layer in run.model._flatten_layers()
    }
    assert "mixed_bfloat16" in policies
    assert {v.dtype for v in run.model.trainable_variables} == {"float32"}
    # The graphs of training and of this evaluation differ in their rounding.
    run.evaluate("validation")
    results = json.loads((tmp_path / "whole" / "results.json").read_text())
    assert results["run"]["precision"] == "mixed_bfloat16"
    assert run.evaluate("test")["tasks"].keys() == results["tasks"].keys()


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
def test_float16_scales_the_loss_of_every_kind(kind, tmp_path):
    config = config_of(kind, tmp_path, "mixed_float16")
    results = training_run.train(config, str(tmp_path / "run"))
    assert np.isfinite(results["mean"]["overall"])
    last = mtl_tf.load(str(tmp_path / "run"))
    for variable in last.model.variables:
        assert np.all(np.isfinite(variable)), variable.path
