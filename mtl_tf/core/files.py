"""Atomic writing of files, and locks on directories."""

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from mtl_tf.core import strict_json, surrogates
from mtl_tf.core.errors import InUse, RunError

#: The lock file of a directory.
LOCK = ".lock"
# The end of temporary names, and the random part before it. The latter
# distinguishes them from a user's backup of a hidden file.
_MARK, _DRAWN = "~", "[a-z0-9_]{8}"


def make_directory(path: str) -> str:
    """Creates `path` with its parents and returns it.

    Raises:
        RunError: it cannot be created or is not writable, or its name is not
            UTF-8, which TensorFlow's files need.
    """
    if surrogates.first_half(os.fspath(path)):
        raise RunError(
            f"cannot write into the directory {ascii(path)}: its name is not "
            "valid UTF-8, choose another"
        )
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make the directory {path}: {error.strerror}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise RunError(f"cannot write into the directory {path}")
    return path


def check_file(path: str) -> None:
    """Refuses, before hours of work, a file that cannot be written.

    Raises:
        RunError: `path` is a directory, or its directory cannot be created or
            is not writable.
    """
    if os.path.isdir(path) or path.endswith(os.sep):
        raise RunError(f"cannot write the file {path}: it is a directory")
    make_directory(os.path.dirname(os.path.abspath(path)))


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yields a temporary file name that becomes `path` after the block.

    The new file is complete or absent: it is flushed to disk and then renamed.
    If the block raises, `path` is unchanged.

    Raises:
        RunError: as for `check_file`.
    """
    check_file(path)
    with _hidden(path, _new_file) as temporary:
        try:
            yield temporary
            with open(temporary, "rb") as written:
                os.fsync(written.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except OSError as error:
            # A full disk does not say which file it has no room for.
            if error.filename is None:
                error.filename = path
            raise
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


@contextlib.contextmanager
def new_directory(path: str) -> Iterator[str]:
    """Yields a temporary directory that becomes `path` after the block.

    Raises:
        RunError: `path` exists already; it is unchanged.
    """
    with hidden_directory(path) as temporary:
        yield temporary
        publish(temporary, path)


@contextlib.contextmanager
def hidden_directory(path: str) -> Iterator[str]:
    """Yields a directory next to `path` for `publish`; it is removed finally.

    So are parents that were not there, if nothing is published in them.

    Raises:
        RunError: `path` exists already.
    """
    path = os.path.abspath(path)
    if os.path.lexists(path):
        raise _exists(path)
    with no_empty_directories(os.path.dirname(path)):
        make_directory(os.path.dirname(path))
        with _hidden(path, tempfile.mkdtemp) as temporary:
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)


def publish(temporary: str, path: str) -> None:
    """Flushes a complete directory to disk and then renames it.

    Otherwise a power cut could leave the new name with empty files.

    Raises:
        RunError: `path` exists by now; it is unchanged.
    """
    os.chmod(temporary, 0o777 & ~_umask())
    for folder, _, names in os.walk(temporary):
        for name in (*names, ""):
            _flush(os.path.join(folder, name))
    try:
        os.rename(temporary, path)
    except (FileExistsError, NotADirectoryError):
        raise _exists(path)
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
        raise _exists(path)
    _flush(os.path.dirname(os.path.abspath(path)))


@contextlib.contextmanager
def _hidden(path: str, make: Callable[[str, str, str], str]) -> Iterator[str]:
    """Yields what `make` made next to `path`; removes leftovers first.

    It is locked as long as its process lives. Leftovers of killed processes are
    not.
    """
    directory, name = os.path.split(os.path.abspath(path))
    prefix = f".{name}."
    _remove_left(directory, prefix)
    with contextlib.ExitStack() as stack:
        while True:
            temporary = make(_MARK, prefix, directory)
            try:
                handle = os.open(temporary, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (FileNotFoundError, BlockingIOError):
                continue  # Another process has removed it as a leftover.
            except OSError:
                break  # This file system has no locks, so nothing is removed.
            if _is_at(handle, temporary):
                break
        yield temporary


def _new_file(suffix: str, prefix: str, directory: str) -> str:
    handle, path = tempfile.mkstemp(suffix, prefix, directory)
    os.close(handle)
    return path


def _remove_left(directory: str, prefix: str) -> None:
    """Removes what `_hidden` made for processes that no longer exist."""
    try:
        names = os.listdir(directory)
    except PermissionError:
        return  # The directory is writable, but not readable.
    left = re.compile(re.escape(prefix) + _DRAWN + _MARK)
    for name in filter(left.fullmatch, names):
        path = os.path.join(directory, name)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)


def _flush(path: str) -> None:
    """Flushes a file, or the names in a directory, to disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        # Not every file system can flush a directory.
        if not os.path.isdir(path):
            raise


def _exists(path: str) -> RunError:
    return RunError(f"{path} exists already: remove it or name another")


def write_text(path: str, text: str) -> None:
    """Writes `text` as UTF-8 to `path`, atomically."""
    with replacing(path) as temporary:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def write_json(path: str, value: Any) -> None:
    """Writes indented JSON, as `strict_json` does, atomically."""
    write_text(path, strict_json.dumps(value, indent=2) + "\n")


def read_json(path: str) -> Any:
    """Reads JSON.

    Raises:
        RunError: the file is missing or is not JSON.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}")
    except ValueError as error:
        raise RunError(f"{path} is not valid JSON: {error}")


@contextlib.contextmanager
def locked(directory: str, name: str = LOCK) -> Iterator[None]:
    """Locks `directory` for this process; the lock ends with the process.

    What was created only for the lock is removed if the block raises.

    Raises:
        InUse: another process holds the lock.
        RunError: locking is impossible.
    """
    path = os.path.join(directory, name)
    with contextlib.ExitStack() as stack:
        stack.enter_context(no_empty_directories(directory))
        make_directory(directory)
        try:
            file = stack.enter_context(open(path, "a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder may have removed the file.
            while not _is_at(file.fileno(), path):
                file = stack.enter_context(open(path, "a"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(
                f"{directory} is in use by another process: wait for it or "
                "name another directory"
            )
        except OSError as error:
            raise RunError(f"cannot lock {path}: {error.strerror}")
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                if os.listdir(directory) == [name]:
                    os.unlink(path)
            raise


@contextlib.contextmanager
def no_empty_directories(path: str) -> Iterator[None]:
    """Removes directories after the block that are new and empty.

    Args:
        path: a directory that the block may make, with its parents.
    """
    path, absent = os.path.abspath(path), []
    while not os.path.lexists(path):
        absent.append(path)
        path = os.path.dirname(path)
    try:
        yield
    finally:
        for directory in absent:
            with contextlib.suppress(OSError):
                os.rmdir(directory)


def _is_at(handle: int, path: str) -> bool:
    """Whether an open file is the one at `path`."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
