"""Uses TFDS without its output."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

from absl import logging

# The streams belong to the process. If two threads changed them at once, the
# second one would restore the first one's replacement for good.
_LOCK = threading.RLock()


@contextlib.contextmanager
def quiet(progress: bool = False) -> Iterator[None]:
    """Keeps TFDS off standard output, and its developer notes off the log.

    Only one thread at a time can do so; others wait.

    Args:
        progress: whether to show its progress bars and printed output, on
            standard error; otherwise both are dropped.
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
