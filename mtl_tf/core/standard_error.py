"""What libraries of C++ write on standard error, behind Python's back."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def captured(noise: bytes = b"") -> Iterator[None]:
    """Holds file descriptor 2 back; passes all of it on after an exception.

    Args:
        noise: a regular expression. Lines that it occurs in are dropped after
            success, and others passed on; by default all are dropped.
    """
    sys.stderr.flush()
    original = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        failed = True
        try:
            yield
            failed = False
        finally:
            sys.stderr.flush()
            os.dup2(original, 2)
            file.seek(0)
            for line in file:
                if failed or not re.search(noise, line):
                    os.write(original, line)
            os.close(original)
