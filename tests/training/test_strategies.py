"""Strategies by name; `tests/runs/test_workers.py` trains on several."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import tensorflow as tf

from mtl_tf.core.errors import (
    ConfigError,
    Interrupted,
    LostWorker,
    RunError,
)
from mtl_tf.training.distribution import strategies
from mtl_tf.training.distribution.workers import Workers
from tests.runs import worker_processes


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    for name in ("TF_CONFIG", "SLURM_PROCID", "TPU_NAME"):
        monkeypatch.delenv(name, raising=False)


def two_workers(monkeypatch, index=0):
    cluster = {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}
    task = {"type": "worker", "index": index}
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": cluster, "task": task})
    )


def test_auto_takes_one_device_where_nothing_else_is():
    assert strategies.chosen_by_auto() == "one_device"
    strategy = strategies.make_strategy("auto")
    assert isinstance(strategy, tf.distribute.OneDeviceStrategy)


def test_auto_takes_the_workers_that_are_named(monkeypatch):
    two_workers(monkeypatch)
    assert strategies.chosen_by_auto() == "multi_worker"


def test_auto_takes_one_device_where_one_worker_is_named(monkeypatch):
    cluster = {"worker": ["127.0.0.1:1"]}
    task = {"type": "worker", "index": 0}
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": cluster, "task": task})
    )
    assert strategies.chosen_by_auto() == "one_device"


def test_auto_takes_the_tpu_that_is_named(monkeypatch):
    monkeypatch.setenv("TPU_NAME", "local")
    assert strategies.chosen_by_auto() == "tpu"


def test_auto_mirrors_over_several_gpus(monkeypatch):
    # There are none here: only the choice can be shown.
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [1, 2])
    assert strategies.chosen_by_auto() == "mirrored"


def test_mirrored_is_one_strategy_for_all_trainings_of_a_process():
    """With two, the second training failed at texts of another length."""
    first = strategies.make_strategy("mirrored")
    assert strategies.make_strategy("mirrored") is first


def test_workers_that_nobody_names():
    with pytest.raises(ConfigError, match="TF_CONFIG, or from Slurm's"):
        strategies.make_strategy("multi_worker")


def test_a_process_that_has_run_tensorflow_cannot_join_others(monkeypatch):
    tf.constant(1.0) + 1.0
    two_workers(monkeypatch)
    with pytest.raises(ConfigError, match="before TensorFlow runs anything"):
        strategies.make_strategy("multi_worker")


def test_no_tpu():
    with pytest.raises(ConfigError, match=r"no TPU \(TPU_NAME 'local'\)"):
        strategies.make_strategy("tpu")


def test_a_tpu_whose_name_nobody_knows(monkeypatch):
    """The resolver asks Google's servers for its address."""

    def nobody(request, *arguments, **options):
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(urllib.request, "urlopen", nobody)
    monkeypatch.setenv("TPU_NAME", "nowhere")
    strategies._tpu.cache_clear()
    with pytest.raises(ConfigError, match=r"'nowhere'.*Name or service not"):
        strategies.make_strategy("tpu")


def test_an_unknown_strategy_offers_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'multi_worker'"):
        strategies.make_strategy("multiworker")


@pytest.mark.parametrize("name", ["auto", "multi_worker"])
def test_many_runs_in_a_process_are_not_for_several_workers(monkeypatch, name):
    two_workers(monkeypatch)
    with pytest.raises(ConfigError, match="A sweep trains many runs in one"):
        strategies.check_one_process(name, "A sweep")


def test_many_runs_in_a_process_take_every_other_strategy(monkeypatch):
    for name in ("auto", "one_device", "mirrored", "tpu"):
        strategies.check_one_process(name, "A sweep")
    two_workers(monkeypatch)
    strategies.check_one_process("one_device", "A sweep")


@pytest.mark.parametrize(
    ("index", "name", "expected"),
    [
        (0, "auto", True),
        (1, "auto", False),
        (1, "multi_worker", False),
        (1, "one_device", True),
    ],
)
def test_the_first_worker_is_the_chief(monkeypatch, index, name, expected):
    two_workers(monkeypatch, index)
    assert strategies.is_chief(name) is expected


def test_without_a_cluster_a_process_is_its_own_chief(two_replicas):
    assert strategies.is_chief("auto")
    for strategy in (two_replicas, tf.distribute.OneDeviceStrategy("cpu:0")):
        workers = Workers(strategy)
        assert (workers.count, workers.number) == (1, 0)
        assert workers.is_chief and not workers.several
        assert workers.share(0.1) == 0.1
        assert workers.any(True) is True and workers.any(0) is False
        assert workers.chief_first(lambda: 3) == workers.by_chief(lambda: 3)
        workers.check_same("the step", 7)


class OneOfTwo(Workers):
    """A chief whose other worker says these numbers, one after another."""

    def __init__(self, *others):
        self.count, self.number, self.others = 2, 0, list(others)

    def _sum(self, value):
        return value + self.others.pop(0)


def test_a_mistake_on_one_worker_stops_all_of_them():
    """The others took it for lost, and were started again without end."""

    def fail():
        raise ConfigError("another config")

    with pytest.raises(RunError, match="another worker stopped with an error"):
        OneOfTwo(1.0).together(lambda: 3)
    with pytest.raises(RunError, match="another worker stopped with an error"):
        OneOfTwo(0.0, 1.0).chief_first(lambda: 3)
    with pytest.raises(RunError, match="another worker stopped with an error"):
        OneOfTwo(0.0, 1.0).check_same("the step", 7)
    with pytest.raises(ConfigError, match="another config"):
        OneOfTwo(0.0).together(fail)
    assert OneOfTwo(0.0).together(lambda: 3) == 3


@pytest.mark.parametrize(
    "passing",
    [Interrupted("stopped", 15), LostWorker("lost"), OSError("no answer")],
)
def test_what_passes_on_one_worker_is_no_mistake_of_all(passing):
    """They take it for lost, and the same command continues."""

    def fail():
        raise passing

    with pytest.raises(type(passing)):
        OneOfTwo().together(fail)  # It tells the others nothing.


def test_one_process_keeps_what_tensorflow_raises(two_replicas):
    error = tf.errors.UnavailableError(None, None, "a file server is away")
    with pytest.raises(tf.errors.UnavailableError):
        with Workers(two_replicas).losses_reported():
            raise error


_ALONE = """
import sys
import urllib.error
import urllib.request
from mtl_tf.training.distribution import strategies
strategies.START_SECONDS = float(sys.argv[2])
strategies.make_strategy(sys.argv[1])
"""


@pytest.mark.extended
@pytest.mark.parametrize("number", [0, 1])
def test_a_worker_whose_others_never_come_ends(number):
    """Both the one that the others look for and one that looks for it."""
    environment = worker_processes.environments(2)[number]
    error = ended_alone("multi_worker", environment)
    assert "waited 3 seconds for the other 1 of TF_CONFIG" in error


@pytest.mark.extended
def test_a_worker_that_is_started_twice_is_told_so():
    environment = worker_processes.environments(2)[0]
    [address, _] = json.loads(environment["TF_CONFIG"])["cluster"]["worker"]
    with socket.create_server(("127.0.0.1", int(address.split(":")[1]))):
        ended = start_alone("multi_worker", environment, 60)
    assert ended.returncode == 1
    told = f"worker 0 of TF_CONFIG cannot listen at {address}: another process"
    assert told in ended.stderr


@pytest.mark.extended
def test_a_tpu_that_never_answers_ends_the_program():
    [port] = worker_processes.free_ports(1)
    address = f"grpc://127.0.0.1:{port}"
    error = ended_alone("tpu", {**os.environ, "TPU_NAME": address})
    assert f"'{address}', did not answer within 3 seconds" in error


def ended_alone(strategy, environment):
    """What a process that waits in vain has written."""
    ended = start_alone(strategy, environment, 3)
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]
    return ended.stderr


def start_alone(strategy, environment, seconds):
    """A process that makes a strategy within seconds, once it has ended."""
    return subprocess.run(
        [sys.executable, "-c", _ALONE, strategy, str(seconds)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
