"""Loss weightings that are classes of the user's own."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.training import loss_weighting
from tests.training import toy

CODE = """
import numpy as np
import tensorflow as tf
from mtl_tf.training.loss_weighting import AdaptedWeights, StaticWeights

class Highest(AdaptedWeights):
    def __init__(self, weights, power=1.0, **kwargs):
        super().__init__(weights, **kwargs)
        self.power = power

    def after_evaluation(self, losses, seen):
        factors = np.where(seen, losses, 1.0) ** self.power
        self.factors.assign(factors / factors.mean())

    def values(self):
        return self.factors.numpy() * self.weights_of_tasks

class Norms(AdaptedWeights):
    adapts = True

    def update(self, task, loss, norms):
        self.factors.assign(self.factors.value)

class Fails(StaticWeights):
    def __init__(self, weights, **kwargs):
        raise KeyError("no reason")

class NoUpdate(StaticWeights):
    adapts = True

class WrongUpdate(NoUpdate):
    def update(self, task, loss):
        pass

class Mean(StaticWeights):
    def call(self, task, loss):
        return tf.reduce_mean(loss)

class TooMany(StaticWeights):
    def call(self, task, loss):
        return loss * tf.ones([5])

class Wide(StaticWeights):
    def call(self, task, loss):
        return tf.cast(loss, tf.float64)

class Typo(StaticWeights):
    def call(self, task, loss):
        return loss * self.nothing

class Branch(StaticWeights):
    def call(self, task, loss):
        if loss[0] > 1:
            return loss
        return 2 * loss

class OneValue(StaticWeights):
    def values(self):
        return [1.0]

class Twice(AdaptedWeights):
    def __init__(self, weights, **kwargs):
        super().__init__(weights, **kwargs)
        self.again = self.add_state("factors", "ones")

class OfReplica(StaticWeights):
    def call(self, task, loss):
        replicas = tf.distribute.get_replica_context().num_replicas_in_sync
        return loss * replicas

class Counts(AdaptedWeights):
    def call(self, task, loss):
        self.factors.assign(self.factors.value + 1.0)
        return loss

class Square(StaticWeights):
    def call(self, task, loss):
        return loss * loss

class Share(StaticWeights):
    def call(self, task, loss):
        return loss * tf.nn.softmax(tf.stop_gradient(loss))

class SizeOne(StaticWeights):
    def call(self, task, loss):
        return loss / tf.stop_gradient(loss)

class Drawn(StaticWeights):
    def call(self, task, loss):
        return loss * tf.random.uniform(tf.shape(loss))

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
        ("mine.py:Highest", {"weights": [1.0]}, "has no option 'weights'"),
        ("mine.py:Nothing", {}, "must be a class of .*StaticWeights"),
        ("mine.py:Fails", {}, "cannot be used: .*mine.py:.*KeyError"),
        ("mine.py:NoUpdate", {}, "with adapts it needs update"),
        ("mine.py:WrongUpdate", {}, "takes 3 positional arguments"),
        ("mine.py:Mean", {}, r"losses of shape \[1\] .* got \[\]$"),
        ("mine.py:TooMany", {}, r"losses of shape \[1\] .* got \[5\]$"),
        ("mine.py:Wide", {}, "in float32, got float64"),
        ("mine.py:Typo", {}, "mine.py:.* in call: Attrib.* 'nothing'$"),
        ("mine.py:Branch", {}, "mine.py:.* in call: Oper.* Python `bool`"),
        ("mine.py:OneValue", {}, r"each of the 2 tasks, got \[1.0\]$"),
        ("mine.py:Twice", {}, "two of its weights are called twice.*/factors"),
        ("mine.py:Square", {}, "plus something,.* returned 0, 1 and 9$"),
        ("mine.py:Share", {}, "times something, .* 3 of the first task"),
        ("mine.py:SizeOne", {}, "returned nan, 1 and 1$"),
        ("mine.py:Missing", {}, "has no class 'Missing'"),
    ],
)
def test_what_cannot_be_made(name, options, message):
    with pytest.raises(ConfigError, match=message):
        loss_weighting.make_loss_weighting(name, [1.0, 2.0], **options)


def test_one_that_draws_its_factors_is_made():
    layer = loss_weighting.make_loss_weighting("mine.py:Drawn", [1.0, 2.0])
    assert layer.values() == [1.0, 2.0]


def test_one_that_knows_its_replica_is_tried_outside_a_scope():
    place = "mine.py:OfReplica"
    loss_weighting.make_loss_weighting(place, [1.0, 2.0])
    with tf.distribute.OneDeviceStrategy("cpu:0").scope():
        loss_weighting.make_loss_weighting(place, [1.0, 2.0])


def test_to_try_it_changes_nothing():
    layer = loss_weighting.make_loss_weighting("mine.py:Counts", [1.0, 2.0])
    assert layer.values() == [1.0, 2.0]


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
        # Whatever numbers `values` gives, JSON can hold those of an entry.
        assert {type(number) for number in found} == {float}
        np.testing.assert_allclose(found, expected, rtol=1e-5)
