"""Captures what C++ libraries write to standard error."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

# The descriptor belongs to the process. If two threads captured it at once, the
# second one would restore the first one's file for good.
_LOCK = threading.RLock()


@contextlib.contextmanager
def captured(noise: bytes = b"") -> Iterator[None]:
    """Captures file descriptor 2; after an exception all output is passed on.

    Only one thread at a time can do so; others wait. A process with closed
    standard error has nothing to capture.

    Args:
        noise: a regular expression. After success, lines that contain it are
            dropped and others are passed on; by default all are dropped.
    """
    with _LOCK, contextlib.ExitStack() as stack:
        original = _copy()
        if original is None:
            yield
            return
        stack.callback(os.close, original)
        file = stack.enter_context(tempfile.TemporaryFile())
        os.dup2(file.fileno(), 2)
        failed = True
        try:
            yield
            failed = False
        finally:
            _flush()
            os.dup2(original, 2)
            file.seek(0)
            for line in file:
                if failed or not re.search(noise, line):
                    os.write(original, line)


def _copy() -> int | None:
    """A duplicate of standard error's descriptor; None if closed."""
    _flush()
    try:
        return os.dup(2)
    except OSError:
        return None


def _flush() -> None:
    # Python has no stream if the process was started without one.
    if sys.stderr is not None:
        sys.stderr.flush()
