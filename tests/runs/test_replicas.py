"""Whole runs on several replicas."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from mtl_tf.training.distribution import strategies
from mtl_tf.training.optimizers import stage_optimizer
from mtl_tf.training.trainer import Trainer
from tests.runs.helpers import metrics, weights
from tests.runs.worker_processes import assert_as_one_device
from tests.system import corpus, families

ORIGINAL = Trainer._step


@pytest.fixture
def mirrored(two_replicas, monkeypatch):
    """The name of the strategy of two replicas that all tests share."""
    monkeypatch.setitem(strategies.STRATEGIES, "two", lambda: two_replicas)
    return "two"


def train(config, directory, strategy):
    return training_run.train(config, str(directory), strategy=strategy)


@pytest.mark.extended
def test_replicas_train_as_one_device(tmp_path, small_files, mirrored):
    """Also texts of several lengths, with word gradients of several sizes.

    And ASP's penalty, which is no sum over examples.
    """
    config = corpus.config(small_files, steps=8, steps_per_call=4)
    config["model"]["scheme"] = {
        "name": "asp",
        "units": 8,
        "orthogonality_weight": 1.0,
    }
    config["pipeline"] |= {"buckets": 3, "bucket_multiple": 1}
    train(config, tmp_path / "two", mirrored)
    train(config, tmp_path / "one", "one_device")
    [two], [one] = metrics(tmp_path / "two"), metrics(tmp_path / "one")
    for name, loss in one["train_loss"].items():
        np.testing.assert_allclose(two["train_loss"][name], loss, rtol=1e-4)
    two, one = weights(tmp_path / "two"), weights(tmp_path / "one")
    assert two.keys() == one.keys()
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=1e-4, err_msg=name)


@pytest.mark.extended
@pytest.mark.parametrize("method", ["gradnorm", "pcgrad"])
def test_a_penalty_of_the_batch_beside_gradients_task_by_task(
    tmp_path, mirrored, method
):
    """Tasks' gradients come from a loop, which cannot sum over replicas."""
    config = families.write(tmp_path, ["asp"])["asp"]
    config["training"] |= families.METHODS[method]
    train(config, tmp_path / "two", mirrored)
    train(config, tmp_path / "one", "one_device")
    assert_as_one_device(tmp_path / "one", tmp_path / "two")


def test_a_penalty_of_the_batch_is_not_accumulated(tmp_path, mirrored):
    config = families.write(tmp_path, ["asp"])["asp"]
    config["training"]["accumulate_steps"] = 2
    with pytest.raises(
        ConfigError, match="accumulate_steps must be 1 on 2 replicas .* got 2"
    ):
        train(config, tmp_path / "two", mirrored)
    assert not (tmp_path / "two").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", sorted(set(families.FAMILIES) - {"separate"})
)
def test_every_family_trains_as_on_one_device(tmp_path, mirrored, family):
    config = families.write(tmp_path, [family])[family]
    train(config, tmp_path / "two", mirrored)
    train(config, tmp_path / "one", "one_device")
    assert_as_one_device(tmp_path / "one", tmp_path / "two")


@pytest.mark.extended
def test_tokens_of_a_batch_are_shared_out_to_replicas(tmp_path, mirrored):
    """The budget is that of all replicas together, whatever their number."""
    config = families.write(tmp_path, ["token_budget"])["token_budget"]
    config["model"]["scheme"] = {"name": "nbow"}
    train(config, tmp_path / "two", mirrored)
    train(config, tmp_path / "one", "one_device")
    assert_as_one_device(tmp_path / "one", tmp_path / "two")


@pytest.fixture
def compiled(monkeypatch):
    """Compiles whole steps with XLA, as a TPU does; there is none here."""

    def step(trainer, batch, key):
        whole = tf.function(
            lambda *arguments: ORIGINAL(trainer, *arguments, key),
            jit_compile=True,
            autograph=False,
        )
        return whole(batch)

    monkeypatch.setattr(Trainer, "_step", step)
    monkeypatch.setattr(stage_optimizer, "compiles_whole_steps", lambda: True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family", sorted(set(families.FAMILIES) - {"separate"})
)
def test_the_step_of_every_family_compiles_whole(tmp_path, compiled, family):
    config = families.write(tmp_path, [family])[family]
    train(config, tmp_path / "xla", "one_device")
    with pytest.MonkeyPatch.context() as plain:
        plain.setattr(Trainer, "_step", ORIGINAL)
        train(config, tmp_path / "plain", "one_device")
    assert_as_one_device(tmp_path / "plain", tmp_path / "xla")
