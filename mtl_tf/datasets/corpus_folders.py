"""Finds the folder of a corpus's official files.

Releases are unpacked into folders of various names and depths. So a corpus's
folder is known by one of its names, and the folder of its files, in it, by the
files.
"""

import fnmatch
import os
from collections.abc import Iterator, Sequence

from mtl_tf.core.errors import DataError

# IWSLT's archive has texts/en/de/en-de/ in 2016-01/.
_DEPTH = 5
_SKIPPED = "__MACOSX"
_ARCHIVES = (
    ".zip",
    ".tar",
    ".tgz",
    ".tbz2",
    ".7z",
    ".rar",
    ".tar.gz",
    ".tar.bz2",
    ".tar.xz",
)


def corpus_directory(
    manual_dir: str,
    names: str | Sequence[str],
    holds: Sequence[Sequence[str]] = (),
    layout: Sequence[str] = (),
    prefer: str = "",
) -> str:
    """The folder with the official files of a corpus.

    Args:
        manual_dir: the parent of the corpora's folders, or the corpus's own
            folder.
        names: the possible names of the corpus's folder, in any case, such as
            "fdu_mtl".
        holds: for each of its files the possible names, as patterns; `.gz` may
            follow them. The folder may be anywhere in the corpus's; without
            `holds` it is the corpus's.
        layout: where in `manual_dir` itself the files may be, if it is the
            corpus's folder under another name; "/" divides folders.
        prefer: the name of the folder that is taken, if it has any file.

    Returns:
        The folder that has most of the files; of equal ones that of the first
        name, and the least deep one. If none has any, the corpus's own.

    Raises:
        DataError: `manual_dir` is not a readable folder.
    """
    names = [names] if isinstance(names, str) else list(names)
    best, most = _own_folders(manual_dir, names)[0], (False, 0)
    for folder in places(manual_dir, names, layout) if holds else ():
        files = {x.removesuffix(".gz") for x in _entries(folder)}
        count = sum(_has_one(files, patterns) for patterns in holds)
        found = os.path.basename(folder) == prefer, count
        if count and found > most:
            best, most = folder, found
    return best


def places(
    manual_dir: str, names: Sequence[str], layout: Sequence[str] = ()
) -> list[str]:
    """The folders that may have files of a corpus, the likeliest first.

    Args:
        manual_dir: see `corpus_directory`, as for all.
        names: the possible names of the corpus's folder.
        layout: inner folders of a folder of another name.

    Raises:
        DataError: `manual_dir` is not a readable folder.
    """
    found = []
    for folder in _own_folders(manual_dir, names):
        # What stands deeper in another folder may be of another corpus.
        is_named = _is_named(folder, names)
        found += _below(folder) if is_named else _places(folder, layout)
    return list(dict.fromkeys(found))


def packed(manual_dir: str, names: Sequence[str]) -> list[str]:
    """The paths of archives that may hold a corpus.

    They are in its own folder. If it has none, their names begin like one of
    the corpus's.

    Args:
        manual_dir: see `corpus_directory`.
        names: see `corpus_directory`.

    Raises:
        DataError: `manual_dir` is not a readable folder.
    """
    found = []
    for folder in _own_folders(manual_dir, names):
        any_name = _is_named(folder, names)
        for entry in sorted(_entries(folder)):
            plain = entry.lower()
            if plain.endswith(_ARCHIVES) and (
                any_name or plain.startswith(tuple(map(str.lower, names)))
            ):
                found.append(os.path.join(folder, entry))
    return found


def _own_folders(manual_dir: str, names: Sequence[str]) -> list[str]:
    """The folders of a corpus in `manual_dir`; last, `manual_dir` itself."""
    root = os.path.abspath(os.path.expanduser(manual_dir))
    try:
        entries = _entries(root)
        found = [
            os.path.join(root, entry)
            for name in names
            for entry in sorted(entries, key=lambda x: (x != name, x))
            if entry.lower() == name.lower()
        ]
        folders = [x for x in dict.fromkeys(found) if os.path.isdir(x)]
        for folder in folders:
            _entries(folder)
    except OSError as error:
        raise DataError(
            f"cannot read the data folder {error.filename}: "
            f"{error.strerror}; --manual_dir (or MTL_TF_MANUAL_DIR) names the "
            f"folder that holds {names[0]}/, or {names[0]} itself"
        )
    return [*folders, root]


def _below(folder: str) -> Iterator[str]:
    """A folder and the folders in it, the less deep ones first."""
    level = [folder]
    for _ in range(_DEPTH + 1):
        yield from level
        level = [path for above in level for path in _inner(above)]


def _places(folder: str, layout: Sequence[str]) -> list[str]:
    inner = [os.path.join(folder, *place.split("/")) for place in layout]
    return [folder, *filter(os.path.isdir, inner)]


def _is_named(folder: str, names: Sequence[str]) -> bool:
    return os.path.basename(folder).lower() in {x.lower() for x in names}


def _has_one(files: set[str], patterns: Sequence[str]) -> bool:
    return any(
        fnmatch.filter(files, x) if "*" in x else x in files for x in patterns
    )


def _entries(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _inner(folder: str) -> list[str]:
    """The folders in a folder, without hidden ones and unreadable ones."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.path
                for entry in entries
                if entry.is_dir()
                and not entry.name.startswith((".", _SKIPPED))
                and os.access(entry.path, os.R_OK | os.X_OK)
            )
    except OSError:
        return []
