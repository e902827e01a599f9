"""Sharing schemes of the user's own, named by their place."""

import os

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.config_fields import choices, validation
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from mtl_tf.models import own_layers
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.registry import make_scheme

CODE = """
import keras
import tensorflow as tf

from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.models.schemes.nbow import NBOWScheme
from mtl_tf.models.scheme import SharingScheme

class Scaled(NBOWScheme):
    def __init__(self, tasks, scale=1.0, **kwargs):
        super().__init__(tasks, **kwargs)
        self.scale = scale

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=False,
    ):
        encoded = super().call(embedded, mask, task, training, seed)
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

class Nameless(Scaled):
    def call(self, embedded, mask, task, **options):
        return super().call(embedded, mask, task, **options)

class Sizeless(SharingScheme):
    has_sequence = False
    call = Scaled.call

    def __init__(self, tasks, **kwargs):
        super().__init__(**kwargs)

class Callless(SharingScheme):
    output_units = 3

    def __init__(self, tasks, **kwargs):
        super().__init__(**kwargs)

class Closed(Scaled):
    def __init__(self, tasks):
        super().__init__(tasks)

class Nested(SharingScheme):
    has_sequence = False
    output_units = 3
    inner = {"name": "inner"}

    def __init__(self, tasks, **kwargs):
        super().__init__(**kwargs)
        self.lstm = LSTM(3, init=self.init, **self.inner)
        self.dense = keras.layers.Dense(3, **self.inner)

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=False,
    ):
        # Nothing has built the layer before.
        summary = self.dense(tf.reduce_sum(embedded, 2))
        return {"summary": summary, "losses": {}, "inspect": {}}

class Numbered(Nested):
    inner = {}

class Seeded(Nested):
    inner = {"name": "inner"}

    def __init__(self, tasks, **kwargs):
        super().__init__(tasks, **kwargs)
        self.other = LSTM(3, name="other")

class Narrow(Nested):
    output_units = 4

def function():
    pass
"""
TASKS = [{"name": "a", "type": "classification", "labels": ["x", "y"]}]


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
        ("mine.py:Nameless", r"must take .*name each argument in .*options"),
        ("mine.py:Callless", "mine.py:Callless has no call: it must encode"),
        ("mine.py:Closed", r"must take \*\*kwargs, such as name, .*'name'"),
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
    with pytest.raises(ConfigError, match="Sizeless has no output_units"):
        model_of(path, "Sizeless")


def model_of(path, name):
    config = {"embedding_dim": 4, "scheme": {"name": f"{path}:{name}"}}
    return build_model(config, 9, TASKS)


def test_layers_that_build_forgets_are_built_with_the_model(path):
    paths = [v.path for v in model_of(path, "Nested").variables]
    assert "multi_task_model/scheme/inner/kernel" in paths


def test_outputs_of_a_wrong_size_are_told_when_the_model_is_built(path):
    with pytest.raises(ConfigError, match=r"Narrow must .* H = 4, .*, 3\]"):
        model_of(path, "Narrow")


def check_layers(path, name):
    own_layers.check_layers(
        name,
        lambda seed: make_scheme({"name": f"{path}:{name}"}, 1, {"seed": seed}),
    )


def test_a_layer_inside_that_keras_numbers_is_told(path, caplog):
    check_layers(path, "Nested")
    assert not caplog.records
    message = (
        r"Numbered: its layer lstm\w* needs a name .* LSTM\(..., name=...\)"
    )
    with pytest.raises(ConfigError, match=message):
        check_layers(path, "Numbered")


def test_a_layer_inside_with_a_seed_of_its_own_is_warned_of(path, caplog):
    check_layers(path, "Seeded")
    assert "its layer other start the same whatever" in caplog.text
    assert "inner" not in caplog.text
