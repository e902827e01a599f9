"""What libraries of C++ write on standard error, behind Python's back."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

# The descriptor is the process's: of two threads that held it back at once,
# the second would put the first one's file back in its place for good.
_LOCK = threading.RLock()


@contextlib.contextmanager
def captured(noise: bytes = b"") -> Iterator[None]:
    """Holds file descriptor 2 back; passes all of it on after an exception.

    One thread at a time does so; others wait. A process whose standard error
    is closed has nothing to hold back.

    Args:
        noise: a regular expression. Lines that it occurs in are dropped after
            success, and others passed on; by default all are dropped.
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
    """A second descriptor of standard error; None if that is closed."""
    _flush()
    try:
        return os.dup(2)
    except OSError:
        return None


def _flush() -> None:
    # Python has no stream where the process was started without one.
    if sys.stderr is not None:
        sys.stderr.flush()
