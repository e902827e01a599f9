"""Runs whose batches a tf.data service makes are those without one."""

import contextlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mtl_tf.core.errors import RunError
from mtl_tf.runs import training_run
from tests.runs.helpers import (
    assert_same_weights,
    metrics,
    train_killed,
    weights,
)
from tests.system import corpus


def served(config, address):
    return {**config, "pipeline": {**config["pipeline"], "service": address}}


def train(config, directory):
    return training_run.train(config, str(directory), strategy="one_device")


def losses(directory):
    kept = ("step", "loss", "mean", "tasks")
    return [{k: e[k] for k in kept if k in e} for e in metrics(directory)]


@pytest.mark.extended
def test_a_run_with_a_service_is_one_without(
    tmp_path, small_files, data_service
):
    config = corpus.quick(small_files, epochs=1)
    one = train(config, tmp_path / "alone")
    two = train(served(config, data_service), tmp_path / "served")
    assert one["tasks"] == two["tasks"]
    first, second = map(weights, (tmp_path / "alone", tmp_path / "served"))
    assert first.keys() == second.keys() != set()
    for key, value in first.items():
        np.testing.assert_array_equal(value, second[key], err_msg=key)
    assert losses(tmp_path / "alone") == losses(tmp_path / "served") != []
    assert not (tmp_path / "served" / "served").exists()
    # The field is no other config, and no other run: this one is finished.
    assert train(config, tmp_path / "served") == two


def test_what_an_earlier_service_left_goes(tmp_path, small_files):
    config = corpus.quick(small_files, steps=1)
    left = tmp_path / "run" / "served" / "0" / "examples"
    left.mkdir(parents=True)
    train(config, tmp_path / "run")
    assert not (tmp_path / "run" / "served").exists()


def test_nobody_at_the_address_is_told_at_once(tmp_path, small_files):
    config = served(corpus.quick(small_files), "grpc://localhost:1")
    with pytest.raises(RunError, match="pipeline.service: no dispatcher"):
        train(config, tmp_path / "run")


@contextlib.contextmanager
def processes():
    """A dispatcher and a worker in processes of their own; their address."""
    with contextlib.ExitStack() as started:
        said = start(started, "--port=0", "--host=localhost")
        assert said[:2] == ["dispatcher", "at"]
        address = said[2]
        said = start(started, f"--dispatcher={address.partition('://')[2]}")
        assert said[:2] == ["worker", "at"] and said[-1] == address
        yield address


def start(started, *flags):
    """Starts one, which ends with `started`; what it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "launch.data_service", *flags],
        stdout=subprocess.PIPE,
        text=True,
    )
    started.callback(stop, process)
    return process.stdout.readline().split()


def stop(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stdout.close()


@pytest.mark.extended
@pytest.mark.parametrize(
    "storage", [pytest.param("memory", marks=pytest.mark.slow), "disk"]
)
def test_killed_with_a_service_and_continued_without(
    tmp_path, small_files, storage
):
    config = corpus.quick(small_files, "lstm")
    config["pipeline"]["storage"] = storage
    train(config, tmp_path / "whole")
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    with processes() as own:
        train_killed(served(config, own), str(tmp_path / "killed"), 2)
        # What the workers read is left behind by a kill.
        assert os.listdir(tmp_path / "killed" / "served")
        train_killed(served(config, own), str(tmp_path / "killed"), 2)
    train(config, tmp_path / "killed")
    assert not (tmp_path / "killed" / "served").exists()
    assert_same_weights(tmp_path / "whole", tmp_path / "killed")
