"""Sharing schemes of the user's own, named by their place."""

import os

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.configs import base, choices, validation
from mtl_tf.core.errors import ConfigError
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.registry import make_scheme

CODE = """
import keras

from mtl_tf.models.nbow import NBOWScheme
from mtl_tf.models.scheme import SharingScheme

class Scaled(NBOWScheme):
    def __init__(self, tasks, scale=1.0, **kwargs):
        super().__init__(tasks, **kwargs)
        self.scale = scale

    def call(self, *inputs, **options):
        encoded = super().call(*inputs, **options)
        return {**encoded, "summary": self.scale * encoded["summary"]}

    def get_config(self):
        return super().get_config() | {"scale": self.scale}

class Eager(Scaled):
    def __init__(self, tasks, units, **kwargs):
        super().__init__(tasks, **kwargs)

class Dense(keras.layers.Dense):
    pass

class Seedless(Scaled):
    def call(self, embedded, mask, task, training=False):
        return {}

class Sizeless(SharingScheme):
    has_sequence = False

    def __init__(self, tasks, **kwargs):
        super().__init__(**kwargs)

def function():
    pass
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return "mine.py"


def test_a_class_of_a_file_is_a_scheme_with_its_options(path):
    inputs = (np.ones([2, 1, 3, 4], "float32"), np.ones([2, 1, 3], bool))
    once, twice = (
        make_scheme({"name": f"{path}:Scaled", "scale": scale}, 2)(
            *inputs, tf.constant([0, 1])
        )["summary"].numpy()
        for scale in (1.0, 2.0)
    )
    np.testing.assert_allclose(once, np.tanh(3), atol=1e-6)
    assert (twice == 2 * once).all()


def test_what_was_changed_in_the_file_holds_at_once(path):
    name = f"{path}:Scaled"
    assert make_scheme({"name": name}, 2).scale == 1.0
    with open(path, "w") as file:
        file.write(CODE.replace("scale=1.0", "scale=3.0"))
    os.utime(path, (1, 1))  # Bytecode is kept by the second.
    assert make_scheme({"name": name}, 2).scale == 3.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other.py:Scaled", "there is no file .*other.py"),
        ("mine.py:Scale", "mine.py has no class 'Scale'"),
        ("mine.py:Dense", "must be a class of mtl_tf.models.scheme.Sharing"),
        ("mine.py:function", "must be a class of mtl_tf.models.scheme.Sharing"),
        ("mine.py:Eager", "must take tasks, .*units"),
        ("mine.py:Seedless", r"call\(.*must take .*seed=\.\.\., .*'seed'"),
        ("no.such.module:Scaled", "importing no.such.module fails"),
    ],
)
def test_what_is_no_scheme_is_told(path, name, message):
    with pytest.raises(ConfigError, match=message):
        make_scheme({"name": name}, 2)


def test_an_unknown_option_is_told(path):
    config = {"name": f"{path}:Scaled", "scal": 2.0}
    with pytest.raises(ConfigError, match="no option 'scal'; did you mean 'sc"):
        make_scheme(config, 2)


def test_a_config_may_name_own_parts_and_nothing_else_unknown():
    config = base.default_config()
    config.model.scheme = {"name": "mine.py:Scaled"}
    choices.check(validation.validate(config.to_dict()))
    config.model.scheme = {"name": "mine"}
    with pytest.raises(ConfigError, match="unknown scheme"):
        choices.check(config.to_dict())
    config.model.scheme = {"name": "lstm"}
    config.training.optimizer.name = "mine.py:Adam"
    config.training.optimizer.schedule = "mine.py:stairs"
    config.pipeline.mixing.name = "mine.py:Mixing"
    config.training.loss_weighting = "mine.py:Weighting"
    choices.check(config.to_dict())


def test_a_scheme_that_does_not_tell_its_size(path):
    tasks = [{"name": "a", "type": "classification", "labels": ["x", "y"]}]
    config = {"embedding_dim": 4, "scheme": {"name": f"{path}:Sizeless"}}
    with pytest.raises(ConfigError, match="Sizeless has no output_units"):
        build_model(config, 9, tasks)
