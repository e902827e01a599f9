"""SIGTERM and Ctrl-C as a wish to stop at the next good moment."""

import contextlib
import signal
import threading
from collections.abc import Iterator


class StopRequest:
    """Whether a signal asked to stop, and which."""

    def __init__(self):
        self.signal_number: int | None = None

    def __bool__(self) -> bool:
        return self.signal_number is not None


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Yields a `StopRequest` that SIGTERM and SIGINT set.

    A second signal acts as it did before the block: it ends the process.
    Outside the main thread no handler can be set, and none is.
    """
    request = StopRequest()
    previous = {}

    def restore() -> None:
        while previous:
            number, handler = previous.popitem()
            signal.signal(number, handler)

    def note(number: int, frame: object) -> None:
        request.signal_number = number
        restore()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            previous[number] = signal.signal(number, note)
    try:
        yield request
    finally:
        restore()
