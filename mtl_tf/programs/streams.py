"""Files and standard streams under one name: `-` is the stream."""

import contextlib
import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from mtl_tf.core import files, strict_json
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets import binary_tables


@contextlib.contextmanager
def reading(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """Opens a file, or standard input for `-`; yields it and its name.

    A file whose name ends in `.gz` is decompressed.

    Raises:
        ConfigError: the file cannot be read.
        DataError: it cannot be decompressed.
    """
    if path == "-":
        yield sys.stdin.buffer, "standard input"
        return
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(open(path, "rb"))
        except OSError as error:
            raise ConfigError(f"--input: cannot read {path}: {error.strerror}")
        if path.endswith(".gz"):
            stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        try:
            yield stream, path
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{path} cannot be unpacked: {error}")


@contextlib.contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Opens a file for writing, or standard output for `-`.

    A file is written under another name and renamed when complete. A device or
    a named pipe, such as /dev/null, is written to directly.

    Raises:
        ConfigError: the file cannot be written, or its name ends like a
            compressed file's.
        RunError: its folder is not writable.
    """
    if path == "-":
        yield sys.stdout.buffer
        return
    if path.endswith(".gz"):
        raise ConfigError(
            f"--output: {path}: what is written is not packed: name a file "
            "without .gz, or pass standard output on to gzip"
        )
    if os.path.isdir(path):
        raise ConfigError(f"--output: {path} is a folder: name a file")
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as output:
            yield output
        return
    with files.replacing(os.path.realpath(path)) as temporary:
        with open(temporary, "wb") as output:
            yield output


def check_text(source: str) -> None:
    """Refuses an input that is a binary table, such as a parquet file.

    Raises:
        ConfigError: its name ends like one's.
    """
    if advice := binary_tables.advice(source):
        raise ConfigError(f"--input: {advice}")


def check_apart(source: str, output: str) -> None:
    """Refuses an output that would replace the input.

    Raises:
        ConfigError: both are the same file.
    """
    read: str | int = source
    if source == "-":
        try:  # Standard input may be a file, too.
            read = sys.stdin.fileno()
        except (AttributeError, OSError, ValueError):
            return
    are_files = os.path.isfile(output) and os.path.isfile(read)
    if are_files and os.path.samefile(read, output):
        raise ConfigError(
            f"--output: {output} is the input, which would be lost: name "
            "another file"
        )


def write_json(path: str | None, value: Any) -> None:
    """Writes a value as by `writing`; does nothing without a path.

    Raises:
        ConfigError: the file cannot be written.
        RunError: its folder is not writable.
    """
    if not path:
        return
    text = strict_json.dumps(value, indent=2)
    with writing(path) as output:
        output.write(f"{text}\n".encode())
