import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from mtl_tf.core.errors import Interrupted
from mtl_tf.training.signals import sigterm_raises, stop_requests

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


def test_sigterm_raises_and_the_handlers_are_those_from_before():
    before = handlers()
    with pytest.raises(Interrupted, match="half of it") as stopped:
        with sigterm_raises("half of it"):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
    assert stopped.value.signal_number == signal.SIGTERM
    assert handlers() == before


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


BUSY = """
import ctypes, os, signal, sys, threading, time
from mtl_tf.training.signals import stop_requests
signal.signal(signal.SIGINT, signal.default_int_handler)


def send():
    os.kill(os.getpid(), signal.SIGINT)


def answer():
    print("answered", flush=True)
    if sys.argv[1] == "again":
        threading.Timer(0.8, send).start()


# As long as a step that compiles: waits for a lock that it has itself, which
# no signal interrupts.
libc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(lock)
with stop_requests(answer) as request:
    threading.Timer(0.3, send).start()
    if sys.argv[1] == "doubled":
        threading.Timer(0.4, send).start()
    until = (ctypes.c_long * 2)(int(time.time()) + 4, 0)
    libc.pthread_mutex_timedlock(lock, until)
    print("returned", flush=True)
    time.sleep(0.1)
    print(bool(request), flush=True)
"""


@pytest.mark.by_default("again")
@pytest.mark.parametrize("times", ["once", "doubled", "again"])
def test_the_answer_does_not_wait_for_a_call_into_tensorflow(times):
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-c", BUSY, times], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "answered\n"
    answered = time.monotonic()
    rest, _ = child.communicate(timeout=120)
    if times != "again":
        # `timeout` sends one request as two signals.
        assert rest == "returned\nTrue\n" and child.returncode == 0
        assert time.monotonic() - answered > 2
    else:
        # The second one ends a process that has not seen the first.
        assert rest == "" and child.returncode == 128 + signal.SIGINT
        assert time.monotonic() - answered < 2
    assert answered - began < 30
