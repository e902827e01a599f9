"""What disks and clocks do to the states of a training."""

import os
import subprocess
import sys

import pytest

from mtl_tf.core.errors import RunError
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from tests.training import toy
from tests.training.toy import assert_same


def flipped(path, every):
    """Flips one bit after the other of a file; undoes each flip.

    Yields:
        The place of the byte, after the flip of one of its bits.
    """
    original = path.read_bytes()
    for place in range(0, len(original), every):
        changed = bytearray(original)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        yield place
    path.write_bytes(original)


@pytest.mark.by_default("data-*")
@pytest.mark.parametrize("part", ["data-00000-of-00001", "index"])
def test_a_flipped_bit_never_becomes_another_state(finished, whole, part):
    """It goes back to the state before, or the bit had no meaning."""
    path = finished / "checkpoints" / f"ckpt-12.{part}"
    stage, steps = toy.Stage(finished), []
    for place in flipped(path, every=37):
        steps.append(stage.checkpoints.restore(only_read=True))
        assert steps[-1] in (10, 12), place
        if steps[-1] == 12:
            assert_same(stage, whole)
    # Almost every bit counts.
    assert steps.count(10) > 0.8 * len(steps) > 8
    assert stage.checkpoints.restore() == 12
    assert_same(stage, whole)


def test_a_flipped_bit_of_the_best_weights_is_told(finished):
    path = finished / "best" / "weights-12.data-00000-of-00001"
    best = BestWeights(str(finished / "best"), toy.Toy())
    for _ in flipped(path, every=37):
        with pytest.raises(RunError, match="cannot read the weights .*-12"):
            best.load()
    assert best.load()["step"] == 12


@pytest.mark.by_default("False")
@pytest.mark.parametrize("listed", [True, False])
def test_the_clock_does_not_say_which_state_is_the_newest(
    finished, whole, listed
):
    """A clock that was set back in between makes newer files look older."""
    folder = finished / "checkpoints"
    if not listed:
        os.unlink(folder / "checkpoint")
    for path in folder.iterdir():
        year = 0 if path.name.startswith("ckpt-12") else 4_000_000_000
        os.utime(path, (year, year))
    stage = toy.Stage(finished)
    assert stage.checkpoints.restore() == 12
    longer = toy.Stage(finished, total_steps=20).run()
    assert_same(longer, toy.Stage(finished / "other", total_steps=20).run())


_FULL = """
import resource, sys
import tensorflow as tf
from tests.training import toy

# As in conftest.py: other graphs have other bits.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})

def fill(step, full):
    if step == 7:
        # What a disk takes on top of what it has: less than a state.
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, -1))
    return full

toy.Stage(sys.argv[1], steps_per_call=1, checkpoint_seconds=0.0,
          change=fill).run()
"""


@pytest.mark.extended
def test_a_disk_that_is_full_leaves_the_last_states(tmp_path, whole):
    ended = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path)],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 1
    assert "File too large" in ended.stderr, ended.stderr[-2000:]
    stage = toy.Stage(tmp_path)
    # Batches are made ahead of the steps that take them.
    assert 1 <= stage.checkpoints.restore() < 12
    assert_same(stage.run(), whole)
    names = {name.partition(".")[0] for name in os.listdir(tmp_path / "best")}
    assert names == {"best", "weights-12"}
