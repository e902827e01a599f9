"""The official layout `aclImdb/{train,test}/{neg,pos,unsup}/ID_RATING.txt`.

The archive and the unpacked folder give the same result.
"""

import fnmatch
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.corpus_folders import corpus_directory

ROOT = "aclImdb"
ARCHIVE = "aclImdb_v1.tar.gz"
NAMES = ("imdb", ROOT, "aclImdb_v1")
FOLDERS = ("train/neg", "train/pos", "test/neg", "test/pos")
UNLABELLED = "train/unsup"

# Some browsers unpack the outer layer of what they download.
_ARCHIVES = tuple(f"{ROOT}*.{end}" for end in ("tar.gz", "tgz", "tar"))
_MEMBER = re.compile(r"(?:.*/)?((?:train|test)/(?:neg|pos|unsup))/([^/]+)")
_NAME = re.compile(r"(\d+)_(\d+)\.txt")
_RATINGS = {"neg": range(1, 5), "pos": range(7, 11), "unsup": range(0, 11)}


class Review(NamedTuple):
    """A file: the number in its name, and its content."""

    number: int
    content: bytes


def find(manual_dir: str) -> dict[str, str]:
    """Finds the corpus: its four or five folders, or the archive.

    Args:
        manual_dir: the folder of `imdb/`, of the archive or of `aclImdb/`, or
            `aclImdb/` itself.

    Returns:
        Paths by name in the corpus. The archive's official name may have an
        addition, as in `aclImdb_v1_labelled.tar.gz`. A folder is preferred.

    Raises:
        DataError: a folder is missing (`MissingData`: there is neither).
    """
    root = corpus_directory(manual_dir, NAMES, [["train"], ["test"]])
    if any(os.path.isdir(os.path.join(root, *x.split("/"))) for x in FOLDERS):
        return _folders(root)
    directory = corpus_directory(manual_dir, NAMES, [_ARCHIVES])
    archives = sorted(
        name
        for name in os.listdir(directory)
        if any(fnmatch.fnmatch(name, pattern) for pattern in _ARCHIVES)
    )
    if not archives:
        raise MissingData(
            f"imdb: neither {ARCHIVE} nor {ROOT}/ is in {directory}; the "
            "folder given by --manual_dir (or MTL_TF_MANUAL_DIR) must hold one "
            "of them"
        )
    name = ARCHIVE if ARCHIVE in archives else archives[0]
    return {name: os.path.join(directory, name)}


def read(paths: dict[str, str]) -> dict[str, list[Review]]:
    """The reviews of each folder, by their numbers.

    Args:
        paths: the return value of `find`.

    Raises:
        DataError: a file name is not ID_RATING.txt, or has a rating that its
            folder cannot have; a folder is empty; the archive is damaged.
    """
    reviews: dict[str, list[Review]] = {folder: [] for folder in FOLDERS}
    for name, path in paths.items():
        files = _of_folder(name, path) if name in _KNOWN else _of_archive(path)
        for folder, file_name, location, content in files:
            number = _number(folder, file_name, location)
            review = Review(number, content)
            reviews.setdefault(folder, []).append(review)
    for folder, of_folder in reviews.items():
        if not of_folder:
            raise DataError(f"{next(iter(paths.values()))}: no {folder}/*.txt")
        of_folder.sort(key=lambda review: review.number)
    return reviews


_KNOWN = (*FOLDERS, UNLABELLED)
_File = tuple[str, str, str, bytes]  # folder, name, place, content


def _folders(root: str) -> dict[str, str]:
    paths = {name: os.path.join(root, *name.split("/")) for name in _KNOWN}
    if not os.path.isdir(paths[UNLABELLED]):
        del paths[UNLABELLED]
    for path in paths.values():
        if not os.path.isdir(path):
            raise DataError(
                f"the folder {path} is missing: unpack {ARCHIVE} again"
            )
    return paths


def _of_folder(folder: str, path: str) -> Iterator[_File]:
    try:
        for name in os.listdir(path):
            if not name.startswith("."):
                place = os.path.join(path, name)
                with open(place, "rb") as file:
                    yield folder, name, place, file.read()
    except OSError as error:
        raise DataError(f"cannot read {error.filename}: {error.strerror}")


def _of_archive(path: str) -> Iterator[_File]:
    try:
        # The streaming mode "r|gz" would accept a truncated file.
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                match = _MEMBER.fullmatch(member.name)
                if not match or not member.isfile() or match[2][0] == ".":
                    continue
                content = archive.extractfile(member).read()
                yield match[1], match[2], f"{path}: {member.name}", content
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read the archive {path}: {error}")


def _number(folder: str, name: str, location: str) -> int:
    match = _NAME.fullmatch(name)
    if not match:
        raise DataError(f"{location}: the name must be ID_RATING.txt")
    number, rating = map(int, match.groups())
    allowed = _RATINGS[folder.rpartition("/")[2]]
    if rating not in allowed:
        raise DataError(
            f"{location}: rating {rating} in {folder}, where ratings go from "
            f"{allowed[0]} to {allowed[-1]}"
        )
    return number
