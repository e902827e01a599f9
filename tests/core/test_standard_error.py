"""Holding back what is written on file descriptor 2."""

import os
import subprocess
import sys
import threading

import pytest

from mtl_tf.core import standard_error


def test_a_failure_shows_what_was_held_back(capfd):
    with pytest.raises(ImportError):
        with standard_error.captured(b"why"):
            os.write(2, b"why it fails\n")
            raise ImportError
    assert capfd.readouterr().err == "why it fails\n"


def test_messages_are_dropped_after_success(capfd):
    with standard_error.captured():
        os.write(2, b"noise\n")
    os.write(2, b"signal\n")
    assert capfd.readouterr().err == "signal\n"


def test_only_noise_is_dropped(capfd):
    with standard_error.captured(rb"LOG\(INFO\)"):
        os.write(2, b"a.cc(5) LOG(INFO) noise\na.cc(7) LOG(ERROR) signal\n")
    assert capfd.readouterr().err == "a.cc(7) LOG(ERROR) signal\n"


def test_threads_do_not_lose_it(capfd):
    begun, ended = threading.Event(), threading.Event()

    def first():
        with standard_error.captured():
            begun.set()
            ended.wait(0.2)

    def second():
        begun.wait()
        with standard_error.captured():
            ended.wait()

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    threads[0].join()
    ended.set()
    threads[1].join()
    os.write(2, b"signal\n")
    assert capfd.readouterr().err == "signal\n"


def test_it_may_be_closed():
    code = (
        "from mtl_tf.core import standard_error\n"
        "with standard_error.captured():\n"
        "    print('inside')"
    )
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout == "inside\n"
    assert result.returncode == 0
