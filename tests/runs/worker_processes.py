"""Workers of one training as processes of this machine."""

import json
import os
import socket
import subprocess
import sys

import numpy as np

from tests.runs.helpers import metrics, weights

_PROGRAM = """
import json, sys
import tensorflow as tf
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.runs import training_run
# As in conftest.py: other graphs have other bits.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
strategy, directory = sys.argv[1:]
with recurrence.options(shards=1):
    for name, config in json.load(sys.stdin).items():
        training_run.train(config, f"{directory}/{name}", strategy=strategy)
"""


def free_ports(count):
    """Ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def environments(count):
    """The environment of each of some workers, with TF_CONFIG."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    cluster = {"worker": addresses}
    return [
        {
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CONFIG": json.dumps(
                {"cluster": cluster, "task": {"type": "worker", "index": n}}
            ),
        }
        for n in range(count)
    ]


def start(arguments, environments, logs):
    """Starts a process for each environment.

    Args:
        arguments: of Python.
        environments: of the processes.
        logs: a folder for their standard outputs and errors.
    """
    started = []
    for number, environment in enumerate(environments):
        with (
            open(os.path.join(logs, f"out{number}"), "w") as out,
            open(os.path.join(logs, f"err{number}"), "w") as err,
        ):
            started.append(
                subprocess.Popen(
                    [sys.executable, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=err,
                    env=environment,
                    text=True,
                )
            )
    return started


def statuses(processes, seconds):
    """The exit status of each; fails if one does not end in some seconds."""
    try:
        return [process.wait(seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def read(logs, name):
    """What a worker has written."""
    with open(os.path.join(logs, name)) as file:
        return file.read()


def train(configs, directory, count=2, strategy="multi_worker", seconds=900):
    """Trains configs, one after another, on several workers.

    Args:
        configs: by name; `directory/name` becomes the run.
        directory: of the runs, and of the workers' logs.
        count: how many workers.
        strategy: as `--strategy`.
        seconds: when to give up.
    """
    os.makedirs(directory, exist_ok=True)
    processes = start(
        ["-c", _PROGRAM, strategy, str(directory)],
        environments(count),
        directory,
    )
    for process in processes:
        process.stdin.write(json.dumps(configs))
        process.stdin.close()
    found = statuses(processes, seconds)
    logs = [read(directory, f"err{n}")[-3000:] for n in range(count)]
    assert found == [0] * count, "\n".join(logs)


def assert_as_one_device(one, several):
    """Holds a run on replicas to that on one device, within 1e-5."""
    for entry, other in zip(metrics(one), metrics(several), strict=True):
        for name, loss in entry["train_loss"].items():
            np.testing.assert_allclose(
                other["train_loss"][name], loss, atol=1e-5, rtol=1e-5
            )
        for name, weight in entry["loss_weights"].items():
            found = other["loss_weights"][name]
            np.testing.assert_allclose(found, weight, atol=1e-5)
    one, several = weights(one), weights(several)
    assert one.keys() == several.keys() and len(one) > 2
    for name, value in one.items():
        np.testing.assert_allclose(
            several[name], value, atol=1e-5, rtol=0, err_msg=name
        )
