"""Keeps freed memory for the next training step."""

import ctypes
import os
import platform

# Parameters of mallopt, as in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
_MOST = 2**31 - 1  # bytes; mallopt takes an int


def keep() -> None:
    """Makes glibc keep freed memory, instead of returning it to the system.

    Every training step frees and allocates the same memory again. By default
    glibc returns large blocks, and the system maps and zeroes their pages anew,
    which with large tables takes more than half of a step
    (docs/results/speed.md). Kept are only blocks of the main heap, so all
    threads allocate there. To be called before threads start.

    Does nothing if the C library is another one, or if the user has set its
    variables.
    """
    own = [name for name in os.environ if name.startswith("MALLOC_")]
    if own or "GLIBC_TUNABLES" in os.environ:
        return
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(_ARENA_MAX, 1)
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, _MOST)
