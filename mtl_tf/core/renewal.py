"""Restarts a program before what it has compiled fills its process.

XLA keeps every executable until its process ends. A training of a Meta-MTL
leaves some 1,100 memory mappings, and Linux allows a process 65,530
(`vm.max_map_count`). A transfer failed in its 58th training, when LLVM could
not allocate memory. Each training also leaves some 200 MB of memory. So a
program with many trainings, which resumes if its command is repeated, replaces
its own process by the same command.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import machine

_LIMIT = "/proc/sys/vm/max_map_count"
_MAPPINGS = "/proc/self/maps"
# The next training must fit into the rest.
_FULL = 0.5


class _Renewal:
    """Whether and how this process may be replaced.

    Attributes:
        command: the command that replaces it; [] if it must not be replaced.
        start: the share in use at the first point; 0 before.
    """

    def __init__(self):
        self.command: list[str] = []
        self.start = 0.0


_THIS = _Renewal()


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Allows `point`, within the block, to replace this process.

    Not for workers of one training, which wait for each other.
    """
    together = {"TF_CONFIG", "SLURM_STEP_ID"} & set(os.environ)
    if not together:
        _THIS.command = [sys.executable, *sys.orig_argv[1:]]
    try:
        yield
    finally:
        _THIS.command = []


def point() -> None:
    """Restarts the program if half of its mappings or memory are used.

    Call it between trainings, where the same command resumes with the next one.
    A process that has not used more itself continues, so that each restarted
    program gets further than the one before.
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
        if stream is not None:  # None if it was closed from the start
            stream.flush()
    os.execv(_THIS.command[0], _THIS.command)


def _used() -> float:
    """The share of mappings or of memory in use, whichever is greater."""
    return max(_mappings(), machine.memory_share())


def _mappings() -> float:
    """The share of mappings in use; 0 if the system does not tell."""
    try:
        with open(_LIMIT) as file:
            limit = int(file.read())
        with open(_MAPPINGS, "rb") as file:
            return sum(1 for _ in file) / limit
    except (OSError, ValueError):
        return 0.0
