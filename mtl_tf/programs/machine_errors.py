"""One-line messages for errors of disks, permissions and memory."""

import errno
import os
import re
import shutil

# Errors caused by the machine, not by the program.
_ERRNOS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENAMETOOLONG),
    *(errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.ENOMEM),
)
# TensorFlow's message for a full disk.
_FULL = "No space left on device"
_TENSORFLOW = (
    _FULL,
    "Disk quota exceeded",
    "File too large",
    "Permission denied",
    "Operation not permitted",  # for example by an immutable folder
    "Read-only file system",
    "Input/output error",
    "File name too long",
    "Not a directory",
    "No such file or directory",
    "Too many open files",
)
# TensorFlow's messages begin with a graph node, if any, and the file.
_FILE = re.compile(
    rf"(?:{{{{.*?}}}}\s*)?([^{{}}]+?)[;:] ({'|'.join(_TENSORFLOW)})"
)
# The tensor without memory; a graph's message begins with its nodes.
_TENSOR = re.compile(r"OOM when allocating tensor with shape\S+ and type \w+")
# The files of an incomplete checkpoint.
_PART = re.compile(r"_temp/part-\S+")


def machine_error(error: Exception) -> str:
    """One line on an error of disks, permissions or memory; else "".

    Args:
        error: the exception that a program raised.
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
    """The error about a file, with the free space if a disk is full."""
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
    except OSError:  # The disk may have been removed.
        return message
    return f"{message}, where {free / 1e6:,.1f} MB are free"


def _is_out_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "ResourceExhaustedError" and (
        "OOM" in str(error) or "allocat" in str(error)
    )


def _one_line(text: str) -> str:
    """The first line, with single spaces."""
    return " ".join(text.split("\n")[0].split())
