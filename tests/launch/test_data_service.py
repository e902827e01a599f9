"""`launch.data_service`; tests/runs/test_served_run.py trains with it."""

import contextlib
import os
import signal
import socket
import threading

import pytest

from launch import data_service
from tests.launch import helpers


def run(capsys, *flags):
    return helpers.run(capsys, data_service.PROGRAM, *flags)


@pytest.mark.parametrize("address", ["data1", "data1:", ":5000", "data1:x"])
def test_a_wrong_address(capsys, address):
    status, out, err = run(capsys, f"--dispatcher={address}")
    assert (status, out) == (1, "")
    assert f"--dispatcher must be HOST:PORT, got {address!r}" in err


def test_a_port_that_is_taken(capsys):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        status, out, err = run(capsys, f"--port={port}")
    assert (status, out) == (1, "")
    assert f"--port={port}: cannot listen there" in err
    assert "Traceback" not in err


@contextlib.contextmanager
def signalled(number):
    """Sends a signal to this process in half a second."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), number))
    timer.start()
    yield
    timer.join()


def test_a_dispatcher_says_where_it_is_until_a_signal_comes(capsys):
    with signalled(signal.SIGTERM):
        status, out, _ = run(capsys, "--port=0", "--host=data1")
    assert not status
    assert out.startswith("dispatcher at grpc://data1:")
    assert out.strip().rpartition(":")[2] != "0"


def test_a_worker_waits_for_its_dispatcher_until_a_signal_comes(capsys):
    with signalled(signal.SIGINT):
        status, out, _ = run(capsys, "--dispatcher=localhost:1")
    assert (status or 0, out) == (0, "")
