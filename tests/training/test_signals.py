import os
import signal
import subprocess
import sys
import threading

import pytest

from mtl_tf.training.signals import stop_requests

STOPS = (signal.SIGTERM, signal.SIGINT)


def handlers():
    return [signal.getsignal(number) for number in STOPS]


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_is_noted_and_the_handlers_are_those_from_before(number):
    before = handlers()
    with stop_requests() as request:
        assert not request
        os.kill(os.getpid(), number)
        assert request
        assert request.signal_number == number
    assert handlers() == before


def test_handlers_are_restored_without_a_signal_and_after_an_exception():
    before = handlers()
    with pytest.raises(KeyError):
        with stop_requests():
            assert not set(handlers()) & set(before)
            raise KeyError
    assert handlers() == before


def test_outside_the_main_thread_no_handler_is_set():
    before, seen = handlers(), []

    def watch():
        with stop_requests() as request:
            seen.extend([handlers(), bool(request)])

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [before, False]


CHILD = """
import os, signal, sys
from mtl_tf.training.signals import stop_requests
# As in a terminal; a job in the background may have been told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with stop_requests() as request:
    for number in map(int, sys.argv[1:]):
        os.kill(os.getpid(), number)
        print(request.signal_number, flush=True)
"""


@pytest.mark.parametrize("first", STOPS)
@pytest.mark.parametrize("second", STOPS)
def test_a_second_signal_ends_the_process(first, second):
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(int(first)), str(int(second))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.stdout == f"{int(first)}\n"
    assert child.returncode == -second, child.stderr
