"""Where a corpus's official files are, and what identifies their contents.

TFDS reuses a build as long as its folder exists, whatever has become of the
files it was made from. A build therefore remembers the fingerprint of its
source files, and `building.prepare` compares it with the files of today.
Nothing here needs TensorFlow.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Mapping

from mtl_tf.core.errors import DataError

Fingerprint = dict[str, dict[str, int | str]]


def corpus_directory(manual_dir: str, corpus: str) -> str:
    """The folder with the official files of `corpus`.

    Args:
        manual_dir: the folder that holds the corpora's folders, or the corpus's
            own folder.
        corpus: name of the corpus, such as "fdu_mtl".

    Raises:
        DataError: `manual_dir` is not a folder that can be read.
    """
    manual_dir = os.path.abspath(os.path.expanduser(manual_dir))
    inner = os.path.join(manual_dir, corpus)
    directory = inner if os.path.isdir(inner) else manual_dir
    try:
        os.listdir(directory)
    except OSError as error:
        raise DataError(
            f"cannot read the data folder {directory}: {error.strerror}; "
            f"--manual_dir (or MTL_TF_MANUAL_DIR) names the folder that holds "
            f"{corpus}/, or {corpus} itself"
        )
    return directory


def read_source(path: str) -> bytes:
    """The bytes of an official file.

    Raises:
        DataError: it is missing, unreadable or empty.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {error.strerror}; the folder given by "
            "--manual_dir (or MTL_TF_MANUAL_DIR) must hold the corpus's "
            "official files under their official names"
        )
    if not content.strip():
        raise DataError(f"{path}: the file is empty: take the official file")
    return content


def unpack(path: str, content: bytes) -> bytes:
    """The content of a file, unpacked if its name ends in `.gz`.

    Raises:
        DataError: it is not what gzip wrote, or not all of it.
    """
    if not path.endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}")


def identify(content: bytes) -> dict[str, int | str]:
    """Size and hash of one file's content."""
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    return {"bytes": len(content), "blake2b": digest}


def fingerprint(paths: Mapping[str, str]) -> Fingerprint:
    """Size and hash of every file (about 1 ms for a megabyte).

    Args:
        paths: paths of files, or of folders full of files, by the name under
            which the fingerprint has them.

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
    """Total size and one hash of the files of a folder, with their names."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    try:
        for name in sorted(os.listdir(path)):
            with open(os.path.join(path, name), "rb") as file:
                content = file.read()
            size += len(content)
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
    except OSError as error:
        raise DataError(f"cannot read {error.filename}: {error.strerror}")
    return {"bytes": size, "blake2b": digest.hexdigest()}


def check_fingerprint(recorded: Fingerprint, current: Fingerprint) -> list[str]:
    """Names of the files that changed, appeared or went since the build."""
    names = sorted(recorded.keys() | current.keys())
    return [name for name in names if recorded.get(name) != current.get(name)]
