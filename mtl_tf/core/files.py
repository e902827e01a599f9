"""Writing that never leaves half a file, and locks on directories."""

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

from mtl_tf.core import strict_json
from mtl_tf.core.errors import InUse, RunError

#: The file of a lock on a directory.
LOCK = ".lock"
# What names of temporary files and directories end with, and what stands
# before it: a backup of somebody's hidden file ends with it, too.
_MARK, _DRAWN = "~", "[a-z0-9_]{8}"


def make_directory(path: str) -> str:
    """Makes `path` with its parents and returns it.

    Raises:
        RunError: it cannot be made or written to.
    """
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make the directory {path}: {error.strerror}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise RunError(f"cannot write into the directory {path}")
    return path


def check_file(path: str) -> None:
    """Says now, not after hours of work, that a file cannot be written.

    Raises:
        RunError: `path` is a directory, or its directory cannot be made or
            written to.
    """
    if os.path.isdir(path) or path.endswith(os.sep):
        raise RunError(f"cannot write the file {path}: it is a directory")
    make_directory(os.path.dirname(os.path.abspath(path)))


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yields a temporary file name that becomes `path` when the block ends.

    The new file is complete or absent: it is flushed to disk and then renamed.
    If the block raises, `path` keeps what it had.

    Raises:
        RunError: as of `check_file`.
    """
    check_file(path)
    with _hidden(path, _new_file) as temporary:
        try:
            yield temporary
            with open(temporary, "rb") as written:
                os.fsync(written.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


@contextlib.contextmanager
def new_directory(path: str) -> Iterator[str]:
    """Yields a temporary directory that becomes `path` when the block ends.

    Raises:
        RunError: `path` exists already; it is left as it is.
    """
    with hidden_directory(path) as temporary:
        yield temporary
        publish(temporary, path)


@contextlib.contextmanager
def hidden_directory(path: str) -> Iterator[str]:
    """Yields a directory beside `path` for `publish`; it goes in the end.

    Raises:
        RunError: `path` exists already.
    """
    path = os.path.abspath(path)
    if os.path.lexists(path):
        raise _exists(path)
    make_directory(os.path.dirname(path))
    with _hidden(path, tempfile.mkdtemp) as temporary:
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def publish(temporary: str, path: str) -> None:
    """Renames a directory that is complete, once it is on the disk.

    Else a power cut could leave the new name with files that are empty.

    Raises:
        RunError: `path` has come to exist meanwhile; it is left as it is.
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
    """Yields what `make` made beside `path`; what killed processes left goes.

    It is locked as long as its process lives, which tells it from those.
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
                continue  # Another process has taken it for one that was left.
            except OSError:
                break  # This file system has no locks: nothing is removed.
            if _is_at(handle, temporary):
                break
        yield temporary


def _new_file(suffix: str, prefix: str, directory: str) -> str:
    handle, path = tempfile.mkstemp(suffix, prefix, directory)
    os.close(handle)
    return path


def _remove_left(directory: str, prefix: str) -> None:
    """Removes what `_hidden` made for processes that live no more."""
    try:
        names = os.listdir(directory)
    except PermissionError:
        return  # One may write there, but not read.
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
    """Has a file, or the names in a directory, on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        # Not every file system can do it for a directory.
        if not os.path.isdir(path):
            raise


def _exists(path: str) -> RunError:
    return RunError(f"{path} exists already: remove it or name another")


def write_text(path: str, text: str) -> None:
    """Writes `text` as UTF-8 to `path`, all of it or nothing."""
    with replacing(path) as temporary:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def write_json(path: str, value: Any) -> None:
    """Writes indented JSON, as `strict_json` does, all of it or nothing."""
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
    """Holds `directory` for this process; the lock dies with the process.

    What was made for the lock alone goes again if the block raises.

    Raises:
        InUse: another process holds it.
        RunError: it cannot be locked, whoever holds it.
    """
    missing = absent(directory)
    make_directory(directory)
    path = os.path.join(directory, name)
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed it.
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
                    for folder in missing:
                        os.rmdir(folder)
            raise


def absent(directory: str) -> list[str]:
    """The directory and those above it that are not there, it first."""
    path, missing = os.path.abspath(directory), []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _is_at(handle: int, path: str) -> bool:
    """Whether an open file is the one that stands at `path`."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
