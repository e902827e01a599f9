"""Digests of files, which tell whether files have changed."""

import hashlib
import os
from collections.abc import Iterable, Mapping

from mtl_tf.core import files
from mtl_tf.core.errors import RunError

#: The file of digests.
FILE = "digests.json"


def of_bytes(content: bytes) -> str:
    """The digest of bytes, 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def of_file(path: str) -> str:
    """The digest of a file's content, 32 hexadecimal digits.

    Raises:
        RunError: it cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}")
    return digest.hexdigest()


def of_files(folder: str, names: Iterable[str]) -> dict[str, str]:
    """The digests of files, by their names relative to a folder."""
    return {name: of_file(os.path.join(folder, name)) for name in names}


def files_below(folder: str) -> list[str]:
    """The names of all files below a folder, sorted."""
    return sorted(
        os.path.relpath(os.path.join(parent, name), folder)
        for parent, _, names in os.walk(folder)
        for name in names
    )


def read(path: str) -> dict[str, str]:
    """Reads digests by file name.

    Raises:
        RunError: the file has other contents.
    """
    known = files.read_json(path)
    if not isinstance(known, dict) or not all(
        isinstance(digest, str) for digest in known.values()
    ):
        raise RunError(
            f"{path} must hold an object of digests by file name, found "
            f"{known!r:.80}: restore it from a copy"
        )
    return known


def check(folder: str, digests: Mapping[str, str], origin: str) -> None:
    """Refuses files that have changed.

    Args:
        folder: the files' folder. Missing files are ignored.
        digests: the expected digests by name.
        origin: what the files belong to, such as "the run was trained with".

    Raises:
        RunError: a file has changed; the message names it.
    """
    for name, digest in digests.items():
        path = os.path.join(folder, name)
        if os.path.exists(path) and of_file(path) != digest:
            raise RunError(
                f"{path} has changed and is no longer what {origin}: answers "
                "would be wrong without a word. Restore it from a copy"
            )
