"""Reads a corpus's official files, and fingerprints their contents.

TFDS reuses a build as long as its folder exists, even if its source files have
changed. So a build records the fingerprint of its source files, and
`building.prepare` compares it with the current files. This module does not need
TensorFlow.
"""

import codecs
import contextlib
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from mtl_tf.core.errors import DataError

Fingerprint = dict[str, dict[str, int | str]]

# Longer marks come first, as they begin like shorter ones.
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_START = 1024
_PART = 1 << 20


def read_file(path: str) -> bytes:
    """The bytes of a file.

    Raises:
        DataError: it is missing or unreadable.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DataError(f"cannot read {path}: {os.strerror(error.errno)}")


def read_source(path: str) -> bytes:
    """The bytes of an official file.

    Raises:
        DataError: it is missing, unreadable or empty.
    """
    try:
        content = read_file(path)
    except DataError as error:
        raise DataError(
            f"{error}; the folder given by --manual_dir (or "
            "MTL_TF_MANUAL_DIR) must hold the corpus's official files under "
            "their official names"
        )
    if not content.strip():
        raise DataError(f"{path}: the file is empty: take the official file")
    return content


def unpack(path: str, content: bytes) -> bytes:
    """The bytes of a text file, decompressed if its name ends in `.gz`.

    Raises:
        DataError: the gzip data are invalid or incomplete; or the text is
            neither UTF-8 nor in a single-byte encoding, such as Latin-1.
    """
    if path.endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be unpacked: {error}")
    if encoding := wide_encoding(content[:_START]):
        raise DataError(wrong_encoding(path, encoding))
    place = content.find(b"\0")
    if place >= 0:
        raise DataError(_nul(path, content.count(b"\n", 0, place) + 1))
    return content


def head_of(path: str) -> bytes:
    """The first bytes of a file, which tell its form.

    Raises:
        DataError: as for `opened`.
    """
    with opened(path) as file:
        return file.read(_START)


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Opens a file, decompressed if its name ends in `.gz`.

    Args:
        path: the file.

    Raises:
        DataError: as for `read_file` and `unpack`, also while reading.
    """
    packed = path.endswith(".gz")
    try:
        with gzip.open(path) if packed else open(path, "rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path} cannot be unpacked: {error}")
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"cannot read {path}: {reason}")


def check_text(path: str) -> None:
    """Reads a file part by part and refuses what `unpack` refuses.

    Also refuses a file whose lines end in carriage returns alone.

    Args:
        path: the file.

    Raises:
        DataError: as for `read_file` and `unpack`.
    """
    lines, first = 1, True
    with opened(path) as file:
        while part := file.read(_PART):
            if first:
                _check_start(path, part)
            place, first = part.find(b"\0"), False
            if place >= 0:
                line = lines + part.count(b"\n", 0, place)
                raise DataError(_nul(path, line))
            lines += part.count(b"\n")


def _check_start(path: str, part: bytes) -> None:
    """Refuses a text by its first part."""
    if encoding := wide_encoding(part[:_START]):
        raise DataError(wrong_encoding(path, encoding))
    # One at the end may belong to a line feed that was cut off.
    if b"\r" in part[:-1] and b"\n" not in part:
        raise DataError(
            f"{path}: its lines end in carriage returns alone, as those of a "
            "csv file for the Macintosh: convert them (tr '\\r' '\\n')"
        )


def _nul(path: str, line: int) -> str:
    return (
        f"{path}:{line}: a NUL byte, which no text has: remove it (tr -d "
        "'\\000'); or if the file is in UTF-16, convert it (iconv -f "
        "UTF-16 -t UTF-8)"
    )


def wide_encoding(start: bytes) -> str:
    """UTF-16 or UTF-32 if a text has that encoding, else "".

    Args:
        start: the first bytes of the text.

    Returns:
        The name of the encoding for `iconv -f`, from a byte order mark or from
        NUL bytes (every second byte of Latin letters).
    """
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    if 5 * start.count(0) < 2 * len(start) or not start:
        return ""
    return "UTF-16LE" if start.index(0) % 2 else "UTF-16BE"


def wrong_encoding(name: str, encoding: str) -> str:
    """The message for a text with a wide encoding."""
    return (
        f"{name}: the text is in {encoding}, and not in UTF-8: convert it "
        f"(iconv -f {encoding} -t UTF-8)"
    )


def identify(content: bytes) -> dict[str, int | str]:
    """Size and hash of a file's content."""
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    return {"bytes": len(content), "blake2b": digest}


def fingerprint(paths: Mapping[str, str]) -> Fingerprint:
    """Size and hash of every file (about 1 ms for a megabyte).

    Args:
        paths: the paths of files, or of folders of files, by their name in the
            fingerprint.

    Raises:
        DataError: a file is missing, unreadable or empty.
    """
    return {
        name: _identify_folder(path)
        if os.path.isdir(path)
        else identify(read_source(path))
        for name, path in paths.items()
    }


def _identify_folder(path: str) -> dict[str, int | str]:
    """Total size, and one hash, of a folder's files and their names."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    try:
        for name in sorted(os.listdir(path)):
            if os.path.isdir(os.path.join(path, name)):
                continue
            with open(os.path.join(path, name), "rb") as file:
                content = file.read()
            size += len(content)
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
    except OSError as error:
        raise DataError(f"cannot read {error.filename}: {error.strerror}")
    return {"bytes": size, "blake2b": digest.hexdigest()}


def check_fingerprint(recorded: Fingerprint, current: Fingerprint) -> list[str]:
    """Names of files that changed, appeared or vanished since the build."""
    names = sorted(recorded.keys() | current.keys())
    return [name for name in names if recorded.get(name) != current.get(name)]
