"""Errors of disks, permissions and memory, in one line each."""

import errno

# What the machine, not the program, is to blame for.
_ERRNOS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENAMETOOLONG),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ENOMEM),
)
# How TensorFlow says the same.
_TENSORFLOW = (
    *("No space left on device", "Disk quota exceeded", "File too large"),
    *("Permission denied", "Read-only file system", "Input/output error"),
    *("File name too long", "Too many open files"),
)


def machine_error(error: Exception) -> str:
    """One line on an error of disks, permissions or memory; "" for another.

    Args:
        error: what a program raised.
    """
    if isinstance(error, OSError) and error.errno in _ERRNOS:
        file = f" {error.filename}" if error.filename else ""
        return f"{error.strerror}:{file}" if file else str(error.strerror)
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        first = _one_line(str(error))
        return f"out of memory: {first or 'sizes or batches are too large'}"
    if type(error).__module__.startswith("tensorflow"):
        text = str(error)
        if any(reason in text for reason in _TENSORFLOW):
            return _one_line(text)
    return ""


def _is_out_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "ResourceExhaustedError" and (
        "OOM" in str(error) or "allocat" in str(error)
    )


def _one_line(text: str) -> str:
    """The first line, with single spaces."""
    return " ".join(text.split("\n")[0].split())
