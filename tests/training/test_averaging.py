"""Averages of weights: their values, where they count, exact resumption."""

import numpy as np
import pytest

from mtl_tf.training.optimizers.averaging import averaged
from tests.training import toy
from tests.training.killing import run_killed
from tests.training.toy import assert_same, assert_same_best


def expected(values, decay):
    """The averages after each step, by the definition."""
    average, found = None, []
    for step, value in enumerate(values):
        now = min(decay, (1 + step) / (10 + step)) if step else 0.0
        old = 0.0 if average is None else average
        average = now * old + (1 - now) * value.astype(np.float64)
        found.append(average)
    return found


@pytest.mark.by_default("True-0.999-sgd")
@pytest.mark.parametrize("optimizer", ["adagrad", "adam", "sgd"])
@pytest.mark.parametrize("decay", [0.2, 0.999])
@pytest.mark.parametrize("large", [False, True])
def test_the_best_weights_are_averages_of_all_steps(
    tmp_path, monkeypatch, optimizer, decay, large
):
    if large:  # as for tables of millions of weights
        monkeypatch.setattr("mtl_tf.training.optimizers.averaging._LARGE", 1)
    stage = toy.Stage(
        tmp_path, average=decay, evaluate_every=1, optimizer=optimizer
    )
    weights, scored, best = stage.watched(tmp_path)
    assert len(weights) == 12
    for found, saved, right in zip(scored, best, expected(weights, decay)):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(saved, found)
    assert not np.allclose(scored[-1], weights[-1], atol=1e-3)


@pytest.mark.extended
def test_training_itself_is_as_without_averages(tmp_path):
    plain = toy.Stage(tmp_path / "a", optimizer="adam").run()
    other = toy.Stage(tmp_path / "b", optimizer="adam", average=0.9).run()
    for one, two in zip(plain.model.variables, other.model.variables):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


def test_weights_come_back_after_an_error(tmp_path):
    stage, _ = toy.trained(tmp_path, average=0.9)
    before = stage.values()
    with pytest.raises(KeyError), averaged(stage.optimizer):
        assert not np.array_equal(stage.model.table.numpy(), before[0])
        raise KeyError
    for one, two in zip(before, stage.values()):
        np.testing.assert_array_equal(one, two)


def test_nothing_is_replaced_before_the_first_step_or_without_averages(
    tmp_path,
):
    for name, average in (("a", 0.9), ("b", 0.0)):
        stage = toy.Stage(tmp_path / name, average=average)
        before = stage.model.table.numpy()
        with averaged(stage.optimizer):
            np.testing.assert_array_equal(stage.model.table.numpy(), before)


def test_a_loss_that_is_scaled(tmp_path):
    stage, _ = toy.trained(tmp_path, average=0.5, precision="mixed_float16")
    before = stage.model.table.numpy()
    with averaged(stage.optimizer):
        inside = stage.model.table.numpy()
    assert not np.array_equal(inside, before)
    np.testing.assert_allclose(inside, before, atol=0.5)


@pytest.mark.extended
@pytest.mark.parametrize("large", [False, True])
def test_averages_of_several_replicas(
    tmp_path, two_replicas, monkeypatch, large
):
    if large:
        monkeypatch.setattr("mtl_tf.training.optimizers.averaging._LARGE", 1)
    stage = toy.Stage(tmp_path, average=0.4, strategy=two_replicas)
    iterator = stage.trainer.iterate(
        lambda replicas, part: toy.dataset(0, replicas, part=part)
    )
    weights = []
    for _ in range(4):
        toy.run(stage, iterator, 1)
        weights.append(stage.model.table.numpy())
    right = expected(weights, 0.4)[-1]
    with averaged(stage.optimizer):
        for replica in stage.model.table.value.values:
            np.testing.assert_allclose(replica.numpy(), right, atol=1e-6)
    for replica in stage.model.table.value.values:
        np.testing.assert_array_equal(replica.numpy(), weights[-1])


STAGE = """
from tests.training import toy
toy.Stage(arguments[0], optimizer="adam", average=0.9, steps_per_call=1,
          checkpoint_seconds=0.0).run()
"""


@pytest.mark.extended
def test_kill_9_resumes_bit_equal(tmp_path):
    run_killed(STAGE, 6, tmp_path / "a")
    settings = {"optimizer": "adam", "average": 0.9}
    resumed = toy.Stage(tmp_path / "a", **settings)
    assert resumed.checkpoints.restore() == 6
    resumed.run()
    whole = toy.Stage(tmp_path / "b", **settings).run()
    assert_same(resumed, whole)
    assert_same_best(resumed, whole)
