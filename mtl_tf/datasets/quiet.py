"""Using TFDS without its chatter."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from absl import logging

# They are the process's: of two threads that changed them at once, the second
# would put back for good what the first one had put there.
_LOCK = threading.RLock()


@contextlib.contextmanager
def quiet(progress: bool = False) -> Iterator[None]:
    """Keeps TFDS off standard output, and its notes to developers off the log.

    One thread at a time does so; others wait.

    Args:
        progress: whether its progress bars and what it prints are shown (on
            standard error); otherwise both go nowhere.
    """
    from tensorflow_datasets.core.utils import tqdm_utils

    with _LOCK:
        verbosity, bars = logging.get_verbosity(), tqdm_utils._active
        level = logging.WARNING if progress else logging.ERROR
        logging.set_verbosity(min(verbosity, level))
        tqdm_utils.display_progress_bar(progress and bars)
        try:
            with contextlib.ExitStack() as stack:
                sink = sys.stderr
                if not progress:
                    sink = stack.enter_context(open(os.devnull, "w"))
                stack.enter_context(contextlib.redirect_stdout(sink))
                yield
        finally:
            logging.set_verbosity(verbosity)
            tqdm_utils.display_progress_bar(bars)
