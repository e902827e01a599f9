"""Best weights that a training replaces while another process reads them."""

import json

import keras
import numpy as np
import pytest

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.training.checkpoints import saved_weights
from mtl_tf.training.checkpoints.saved_weights import BestWeights


def make_model(value):
    model = keras.Sequential([keras.layers.Dense(2, name="dense")])
    model.build((None, 3))
    for weight in model.weights:
        weight.assign(np.full(weight.shape, value, "float32"))
    return model


def reads(directory):
    """The two ways of reading: into a model, and without one."""

    def load():
        model = make_model(0.0)
        best = BestWeights(directory, model).load()
        return best, model.get_weights()

    def read():
        best, found = BestWeights.read(directory)
        return best, list(found.values())

    return {"load": load, "read": read}


@pytest.mark.parametrize("how", ["load", "read"])
def test_weights_that_are_replaced_meanwhile_are_read_anew(
    tmp_path, monkeypatch, how
):
    BestWeights(str(tmp_path), make_model(1.0)).save(1, 50.0)
    found, replaced = files.read_json, []

    def read_json(path):
        value = found(path)
        if not replaced:
            replaced.append(True)
            BestWeights(str(tmp_path), make_model(2.0)).save(2, 60.0)
        return value

    monkeypatch.setattr(files, "read_json", read_json)
    best, weights = reads(str(tmp_path))[how]()
    assert best["step"] == 2
    assert all(np.all(w == 2.0) for w in weights)


@pytest.mark.parametrize("how", ["load", "read"])
def test_weights_that_are_gone_are_an_error(tmp_path, how):
    BestWeights(str(tmp_path), make_model(1.0)).save(1, 50.0)
    best = json.loads((tmp_path / "best.json").read_text())
    (tmp_path / "best.json").write_text(json.dumps(best | {"weights": "w"}))
    with pytest.raises(RunError, match="cannot read the weights"):
        reads(str(tmp_path))[how]()


def test_two_weights_of_one_name_are_told():
    layers = [keras.layers.Dense(2, name="inner") for _ in range(2)]
    model = keras.Sequential(layers[:1], name="model")
    model.build((None, 3))
    again = keras.Sequential(layers[1:], name="model")
    again.build((None, 3))
    message = "two weights of the model are called inner/kernel: give the la"
    with pytest.raises(ConfigError, match=message):
        saved_weights.by_path([*model.variables, *again.variables])


def test_dropouts_of_keras_are_told_apart():
    drops = [keras.layers.Dropout(0.5, name=name) for name in "ab"]
    kept = saved_weights.by_path([v for d in drops for v in d.variables])
    assert list(kept) == ["seed_generator_state", "seed_generator_state_1"]
