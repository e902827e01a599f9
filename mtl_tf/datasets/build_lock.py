"""A lock on the folder of builds, which other processes wait for."""

import contextlib
import os
import time
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import InUse


@contextlib.contextmanager
def waiting_lock(data_dir: str, name: str) -> Iterator[None]:
    """Locks `data_dir`; waits if another process holds the lock."""
    directory = files.make_directory(os.path.join(data_dir, ".locks"))
    with contextlib.ExitStack() as stack:
        logged = False
        while True:
            try:
                stack.enter_context(files.locked(directory, f"{name}.lock"))
                break
            except InUse:
                if not logged:
                    logging.info("%s: another process is building it", name)
                logged = True
                time.sleep(0.2)
        yield
