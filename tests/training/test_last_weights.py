"""The mean of the weights at the last evaluations: values, exact resumption."""

import os

import numpy as np
import pytest

from mtl_tf.core.errors import RunError
from mtl_tf.training.checkpoints.last_weights import LastWeights
from tests.training import toy
from tests.training.killing import run_killed
from tests.training.toy import assert_same, assert_same_best


@pytest.mark.extended
def test_the_best_weights_are_means_of_the_last_evaluations(tmp_path):
    stage = toy.Stage(
        tmp_path, average_last=3, evaluate_every=2, optimizer="adam"
    )
    weights, scored, best = stage.watched(tmp_path)
    assert len(weights) == 6
    for place, (found, saved) in enumerate(zip(scored, best)):
        last = weights[max(0, place - 2) : place + 1]
        np.testing.assert_allclose(found, np.mean(last, 0), rtol=1e-6)
        np.testing.assert_array_equal(saved, found)
    assert not np.allclose(scored[-1], weights[-1], atol=1e-3)
    # What no mean needs any more is gone.
    kept = os.listdir(tmp_path / "checkpoints" / "last")
    assert sorted(kept) == sorted(f"weights-{n}.npz" for n in (4, 6, 8, 10, 12))


@pytest.mark.extended
def test_training_itself_is_as_without_means(tmp_path):
    plain = toy.Stage(tmp_path / "a", optimizer="adam").run()
    other = toy.Stage(tmp_path / "b", optimizer="adam", average_last=4).run()
    assert_same(plain, other)


STAGE = """
from tests.training import toy
toy.Stage(arguments[0], optimizer="adam", average_last=3, steps_per_call=1,
          checkpoint_seconds=0.0, evaluate_every=2).run()
"""


@pytest.mark.extended
def test_kill_9_resumes_bit_equal(tmp_path):
    run_killed(STAGE, 7, tmp_path / "a")
    assert_resumes(tmp_path)


@pytest.mark.extended
def test_an_error_while_scoring_resumes_bit_equal(tmp_path):
    def score(step):
        if step == 8:
            raise ZeroDivisionError
        return float(step)

    stopped = toy.Stage(
        tmp_path / "a",
        optimizer="adam",
        average_last=3,
        evaluate_every=2,
        checkpoint_seconds=0.0,
        scores=score,
    )
    with pytest.raises(ZeroDivisionError):
        stopped.run()
    assert_resumes(tmp_path)


def assert_resumes(tmp_path):
    """A training that stopped in `a` ends as one that did not."""
    settings = {"optimizer": "adam", "average_last": 3, "evaluate_every": 2}
    resumed = toy.Stage(tmp_path / "a", **settings)
    step = resumed.checkpoints.restore()
    assert 0 < step < 12
    # What a killed process noted of later steps, or half of it, does not count.
    folder = tmp_path / "a" / "checkpoints" / "last"
    (folder / ".weights-99.npz.x").write_bytes(b"half")
    (folder / "weights-10.npz").write_bytes(b"later")
    resumed.run()
    whole = toy.Stage(tmp_path / "b", **settings).run()
    assert_same(resumed, whole)
    assert_same_best(resumed, whole)
    assert not [name for name in os.listdir(folder) if name[0] == "."]


@pytest.mark.extended
def test_means_of_several_replicas(tmp_path, two_replicas):
    stage = toy.Stage(
        tmp_path, average_last=2, evaluate_every=4, strategy=two_replicas
    )
    weights, scored = [], []
    evaluate, record = stage.loop.evaluate, stage.loop.record

    def watch_scoring():
        scored.append([v.numpy() for v in stage.model.table.value.values])
        return evaluate()

    def watch(entry):
        weights.append(stage.model.table.numpy())
        record(entry)

    stage.loop.evaluate, stage.loop.record = watch_scoring, watch
    stage.run()
    for replica in scored[-1]:
        np.testing.assert_allclose(replica, np.mean(weights[-2:], 0), rtol=1e-6)


def test_weights_come_back_after_an_error(tmp_path):
    stage = toy.Stage(tmp_path)
    last = LastWeights(str(tmp_path / "x"), stage.model.trainable_variables, 2)
    before = stage.model.table.numpy()
    with last.averaged(1):
        pass
    stage.model.table.assign(before + 2)
    with pytest.raises(KeyError), last.averaged(2):
        now = stage.model.table.numpy()
        np.testing.assert_allclose(now, before + 1, atol=1e-6)
        raise KeyError
    np.testing.assert_array_equal(stage.model.table.numpy(), before + 2)


def test_damaged_files_are_named(tmp_path):
    stage = toy.Stage(tmp_path)
    variables = stage.model.trainable_variables
    last = LastWeights(str(tmp_path), variables, 2)
    with last.averaged(1):
        pass
    other = LastWeights(str(tmp_path), variables[:1], 2)
    with pytest.raises(RunError, match="weights-1.npz.*another model"):
        with other.averaged(2):
            pass
    (tmp_path / "weights-2.npz").write_bytes(b"PK not a file")
    with pytest.raises(RunError, match="cannot read .*weights-2.npz"):
        with last.averaged(3):
            pass
