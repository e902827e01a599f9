"""TensorFlow's import, without what it writes of itself."""

import contextlib
import glob
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator


def lower_log_level() -> None:
    """Lets TensorFlow log errors alone, unless its own variable says more.

    It has to come before the import.
    """
    # Without a GPU even an error is logged: that CUDA finds none.
    gpu = glob.glob("/dev/nvidia*") + glob.glob("/dev/dxg")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2" if gpu else "3")


def import_tensorflow(quiet: bool) -> None:
    """Imports TensorFlow, without what it writes while it is imported."""
    # Some of its messages come before its own log level is in force, so they
    # are caught at the file descriptor and shown only if the import fails.
    hold = quiet and "tensorflow" not in sys.modules
    with captured_stderr() if hold else contextlib.nullcontext():
        importlib.import_module("tensorflow")


@contextlib.contextmanager
def captured_stderr() -> Iterator[None]:
    """Holds file descriptor 2 back; passes it on after an exception."""
    sys.stderr.flush()
    original = os.dup(2)
    with tempfile.TemporaryFile() as captured:
        os.dup2(captured.fileno(), 2)
        try:
            yield
        except Exception:
            captured.seek(0)
            os.write(original, captured.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(original, 2)
            os.close(original)
