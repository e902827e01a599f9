"""The resources of the machine for this process."""

import contextlib
import math
import os
import pathlib


def cores() -> int:
    """The number of cores that this process may use."""
    # Only Linux can restrict a process to some cores.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_share(
    status: str = "/proc/self/status",
    machine: str = "/proc/meminfo",
    limit: str = "/sys/fs/cgroup/memory.max",
) -> float:
    """The share of the memory within reach that this process has taken.

    Args:
        status: the file that tells the process's memory.
        machine: the file that tells what is still free.
        limit: the file with the most that a container may take, if any.

    Returns:
        From 0 to 1; 0 if the system does not tell.
    """
    try:
        taken = _kilobytes(status, "VmRSS")
        free = _kilobytes(machine, "MemAvailable")
    except (OSError, ValueError):
        return 0.0
    reach = taken + free
    with contextlib.suppress(OSError, ValueError):  # none, or "max"
        reach = min(reach, int(pathlib.Path(limit).read_text()) / 1024)
    return min(taken / reach, 1.0)


def free_memory(machine: str = "/proc/meminfo") -> float:
    """The bytes that are still free; infinity if the system does not tell."""
    try:
        return 1024 * _kilobytes(machine, "MemAvailable")
    except (OSError, ValueError):
        return math.inf


def _kilobytes(file: str, name: str) -> int:
    """The number of a line "name: number kB".

    Raises:
        ValueError: there is no such line.
    """
    for line in pathlib.Path(file).read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise ValueError(f"{file} has no {name}")
