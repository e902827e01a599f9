"""SIGTERM and Ctrl-C as a wish to stop at the next good moment."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

from mtl_tf.core.errors import Interrupted

_STOPS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Whether a signal asked to stop, and which."""

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
    Outside the main thread no handler can be set, and none is.

    Args:
        answer: called, in a thread of its own, as soon as the first signal
            comes. Handlers in Python wait until TensorFlow returns, which may
            take as long as to compile a step.
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

    # First what answers, so that no signal is noted without an answer.
    with _watched(request, answer):
        for number in _STOPS:
            previous[number] = signal.signal(number, note)
        try:
            yield request
        finally:
            restore()


@contextlib.contextmanager
def sigterm_raises(message: str) -> Iterator[None]:
    """Within it SIGTERM raises, so that what is half-written is removed.

    Outside the main thread no handler can be set, and none is.

    Args:
        message: of the `Interrupted` that is raised.
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
    """Answers signals at once, whatever the main thread is doing."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # What handles signals in C writes the number of each to it.
    former = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        answered = False
        while numbers := os.read(reading, 1):
            if numbers[0] not in _STOPS:
                continue
            if answered and not request:
                # The main thread has not even seen the first one.
                os._exit(128 + numbers[0])
            if not answered:
                answered = True
                answer()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(former)
        os.close(writing)
        watcher.join()
        os.close(reading)
