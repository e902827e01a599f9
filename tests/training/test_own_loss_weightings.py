"""Loss weightings that are classes of the user's own."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training import loss_weighting
from tests.training import toy

CODE = """
import numpy as np
from mtl_tf.training.loss_weighting import AdaptedWeights, StaticWeights

class Highest(AdaptedWeights):
    def __init__(self, weights, power=1.0, **kwargs):
        super().__init__(weights, **kwargs)
        self.power = power

    def after_evaluation(self, losses, seen):
        factors = np.where(seen, losses, 1.0) ** self.power
        self.factors.assign(factors / factors.mean())

class Norms(AdaptedWeights):
    adapts = True

class Fails(StaticWeights):
    def __init__(self, weights, **kwargs):
        raise KeyError("no reason")

class Nothing:
    pass
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)


def test_it_is_made_with_its_options():
    layer = loss_weighting.make_loss_weighting(
        "mine.py:Highest", [1.0, 2.0], power=2.0
    )
    layer.after_evaluation(np.array([1.0, 3.0]), np.array([True, True]))
    np.testing.assert_allclose(layer.values(), [0.2, 3.6], rtol=1e-6)
    weighted = layer(tf.constant([1]), tf.constant([10.0]))
    np.testing.assert_allclose(weighted, [36.0], rtol=1e-6)


def test_the_config_says_its_options():
    training = {
        "loss_weighting_options": {"power": 3},
        "dwa": {"temperature": 1.0},
    }
    for name, expected in (
        ("mine.py:Highest", {"power": 3}),
        ("dwa", {"temperature": 1.0}),
        ("uncertainty", {}),
    ):
        options = loss_weighting.options_of(training | {"loss_weighting": name})
        assert options == expected


def test_what_reads_gradients_is_known():
    assert loss_weighting.adapts("mine.py:Norms")
    assert loss_weighting.adapts("gradnorm")
    assert not loss_weighting.adapts("mine.py:Highest")
    assert not loss_weighting.adapts("dwa")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mine.py:Highest", {"powr": 1}, "no option 'powr'; did you mean"),
        ("mine.py:Nothing", {}, "must be a class of .*StaticWeights"),
        ("mine.py:Fails", {}, "cannot be made: .*mine.py:.*KeyError"),
        ("mine.py:Missing", {}, "has no class 'Missing'"),
    ],
)
def test_what_cannot_be_made(name, options, message):
    with pytest.raises(ConfigError, match=message):
        loss_weighting.make_loss_weighting(name, [1.0], **options)


def test_the_loop_tells_it_of_evaluations(tmp_path):
    """An entry has the weights of the period that it is about."""
    stage = toy.Stage(
        tmp_path / "run", weighting="mine.py:Highest", evaluate_every=4
    )
    periods = stage.run().records
    assert [entry["step"] for entry in periods] == [4, 8, 12]
    assert [*periods[0]["loss_weights"].values()] == [1.0, 2.0]
    for before, entry in zip(periods, periods[1:]):
        losses = np.array([*before["train_loss"].values()])
        expected = losses / losses.mean() * [1.0, 2.0]
        found = [*entry["loss_weights"].values()]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
