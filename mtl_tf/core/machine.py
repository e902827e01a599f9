"""What the machine offers to this process."""

import os


def cores() -> int:
    """How many cores this process may use."""
    # Linux alone can restrict a process to some of them.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
