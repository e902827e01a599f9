"""Starting a program anew before what it has compiled fills its process.

XLA keeps every executable until its process ends: a training of a Meta-MTL
leaves some 1,100 memory mappings, of which Linux gives a process 65,530
(`vm.max_map_count`). A transfer died in its 58th training, when LLVM could
not allocate. What does many trainings one after the other, and continues when
the same command is given again, gives itself that command.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

from absl import logging

_LIMIT = "/proc/sys/vm/max_map_count"
_MAPPINGS = "/proc/self/maps"
# A training that begins has to fit into what is left.
_FULL = 0.5


class _Renewal:
    """Whether this process may be replaced, and how.

    Attributes:
        command: what it is replaced by; [] if it may not be.
        start: the share of the mappings at the first point; 0 before.
    """

    def __init__(self):
        self.command: list[str] = []
        self.start = 0.0


_THIS = _Renewal()


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Within it `point` may replace this process, which was started for it.

    Workers of one training wait for one another: they may not.
    """
    together = {"TF_CONFIG", "SLURM_STEP_ID"} & set(os.environ)
    if not together:
        _THIS.command = [sys.executable, *sys.orig_argv[1:]]
    try:
        yield
    finally:
        _THIS.command = []


def point() -> None:
    """Starts the program anew if the process is half full of mappings.

    To be called between trainings, where the same command would continue with
    the next one. A process that has not taken more mappings itself goes on: a
    program that is started anew gets further than the one before.
    """
    used = _used()
    _THIS.start = _THIS.start or used
    if not _THIS.command or used < max(_FULL, 2 * _THIS.start):
        return
    logging.info(
        "What has been compiled fills this process: the program starts anew "
        "and continues."
    )
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as where it was closed from the start
            stream.flush()
    os.execv(_THIS.command[0], _THIS.command)


def _used() -> float:
    """The share of the mappings that the system gives; 0 if it says nothing."""
    try:
        with open(_LIMIT) as file:
            limit = int(file.read())
        with open(_MAPPINGS, "rb") as file:
            return sum(1 for _ in file) / limit
    except (OSError, ValueError):
        return 0.0
