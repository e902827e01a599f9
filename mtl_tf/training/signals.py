"""SIGTERM and Ctrl-C as requests to stop at the next safe point."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

from mtl_tf.core.errors import Interrupted

_STOPS = (signal.SIGTERM, signal.SIGINT)
# `timeout` of the GNU core utilities sends its signal to the process and to its
# group, so that it arrives twice.
_SAME_REQUEST_SECONDS = 0.5


class StopRequest:
    """Whether a signal asked to stop, and which one."""

    def __init__(self):
        self.signal_number: int | None = None

    def __bool__(self) -> bool:
        return self.signal_number is not None


@contextlib.contextmanager
def stop_requests(
    answer: Callable[[], None] = lambda: None,
) -> Iterator[StopRequest]:
    """Yields a `StopRequest` that SIGTERM and SIGINT set.

    A second signal acts as it did before the block: it ends the process.
    Outside the main thread handlers cannot be set, so none is set.

    Args:
        answer: called in a separate thread as soon as the first signal comes.
            Python's handlers run only when TensorFlow returns, which may take
            as long as compiling a step.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    previous = {}

    def restore() -> None:
        while previous:
            number, handler = previous.popitem()
            signal.signal(number, handler)

    def note(number: int, frame: object) -> None:
        request.signal_number = number
        restore()

    # Set up the answer first, so that no signal goes without one.
    with _watched(request, answer):
        for number in _STOPS:
            previous[number] = signal.signal(number, note)
        try:
            yield request
        finally:
            restore()


@contextlib.contextmanager
def sigterm_raises(message: str) -> Iterator[None]:
    """Within the block SIGTERM raises, so that unfinished files are removed.

    Outside the main thread handlers cannot be set, so none is set.

    Args:
        message: message of the `Interrupted` error.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise Interrupted(message, number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _watched(
    request: StopRequest, answer: Callable[[], None]
) -> Iterator[None]:
    """Answers signals at once, even while the main thread is busy."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # Python's C-level handler writes each signal number to this pipe.
    former = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        first = None
        while numbers := os.read(reading, 1):
            if numbers[0] not in _STOPS:
                continue
            if first is None:
                first = time.monotonic()
                answer()
                continue
            passed = time.monotonic() - first
            if passed > _SAME_REQUEST_SECONDS and not request:
                # The main thread has not even processed the first signal.
                os._exit(128 + numbers[0])

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(former)
        os.close(writing)
        watcher.join()
        os.close(reading)
