"""Errors of disks, permissions and memory, in one line each."""

import errno
import os
import re
import shutil

# What the machine, not the program, is to blame for.
_ERRNOS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENAMETOOLONG),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ENOMEM),
)
# How TensorFlow says the same.
_FULL = "No space left on device"
_TENSORFLOW = (
    *(_FULL, "Disk quota exceeded", "File too large"),
    *("Permission denied", "Read-only file system", "Input/output error"),
    *("File name too long", "Too many open files"),
)
# Its messages begin with the node of a graph, if there is one, and the file.
_FILE = re.compile(
    rf"(?:{{{{.*?}}}}\s*)?([^{{}}]+?)[;:] ({'|'.join(_TENSORFLOW)})"
)
# What could not be had; a graph's message begins with its nodes.
_TENSOR = re.compile(r"OOM when allocating tensor with shape\S+ and type \w+")
# What is written of a checkpoint until it is complete.
_PART = re.compile(r"_temp/part-\S+")


def machine_error(error: Exception) -> str:
    """One line on an error of disks, permissions or memory; "" for another.

    Args:
        error: what a program raised.
    """
    if isinstance(error, OSError) and error.errno in _ERRNOS:
        return _about_file(str(error.strerror), error.filename)
    if type(error).__module__.startswith("tensorflow"):
        text = _one_line(str(error))
        if match := _FILE.match(text):
            file = _PART.sub("", match[1])
            return f"{_about_file(match[2], file)} (TensorFlow: {text})"
        if any(reason in text for reason in _TENSORFLOW):
            return text
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        tensor = _TENSOR.search(str(error))
        first = tensor[0] if tensor else _one_line(str(error))
        return f"out of memory: {first or 'sizes or batches are too large'}"
    return ""


def _about_file(reason: str, file: str | None) -> str:
    """What is wrong with a file, and how much is free where a disk is full."""
    if not file:
        return reason
    message = f"{reason}: {file}"
    if reason != _FULL or not isinstance(file, str):  # such as a number
        return message
    folder = os.path.abspath(file)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # The disk may be gone.
        return message
    return f"{message}, where {free / 1e6:,.1f} MB are free"


def _is_out_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "ResourceExhaustedError" and (
        "OOM" in str(error) or "allocat" in str(error)
    )


def _one_line(text: str) -> str:
    """The first line, with single spaces."""
    return " ".join(text.split("\n")[0].split())
