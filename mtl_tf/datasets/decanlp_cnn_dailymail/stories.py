"""The official `.story` files of CNN/DailyMail, and their splits."""

import fnmatch
import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mtl_tf.core import digests
from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import corpus_folders
from mtl_tf.datasets.lines import LineFile, count
from mtl_tf.datasets.question_builders import absent
from mtl_tf.datasets.sources import read_file

SUFFIX = ".story"
_CORPUS = "decanlp_cnn_dailymail"
# Also of the folders of the two archives, and of a copy of the repository that
# has the lists.
FOLDERS = (
    _CORPUS,
    "cnn_dailymail",
    "cnn_dm",
    "cnn-dailymail",
    "cnn-dailymail-master",
    "cnn",
    "dailymail",
    "cnn_stories",
    "dailymail_stories",
    "url_lists",
)
_STORIES = "stories"
# The names of the lists of URLs, by their kinds.
# The patterns of the lists' names, by their kinds.
_LISTS: Sequence[Mapping[str, str]] = (
    {
        "train": "all_train.txt",
        "validation": "all_val.txt",
        "test": "all_test.txt",
    },
    {
        "train": "*wayback_training_urls.txt",
        "validation": "*wayback_validation_urls.txt",
        "test": "*wayback_test_urls.txt",
    },
)
_HIGHLIGHT = "@highlight"
# The possible ends of a sentence; others get the full stop that highlights
# lack.
_ENDS = (*".!?'`\")", "\u2019", "\u201d")
_HELD_OUT = 20


class Files(NamedTuple):
    """The available files of the corpus.

    Attributes:
        folders: the paths of the folders of stories, by name.
        lists: the paths of each split's lists of URLs; may be empty.
    """

    folders: dict[str, str]
    lists: dict[str, list[str]]

    def paths(self) -> dict[str, str]:
        """Folders and files by name, for a fingerprint."""
        lists = [path for of_split in self.lists.values() for path in of_split]
        return self.folders | {_named(path): path for path in lists}


def _named(path: str) -> str:
    """A list's name and folder, as two papers' names may be equal."""
    return os.path.join(*path.split(os.sep)[-2:])


def find(manual_dir: str) -> Files:
    """Finds the folders of stories, and the lists of URLs.

    Of the kinds of lists, that of most splits is taken.

    Raises:
        DataError: there is no such folder (`MissingData`: no story in it).
    """
    root = os.path.abspath(os.path.expanduser(manual_dir))
    # Each folder of 100,000 stories is read once.
    names_of = {
        path: os.listdir(path)
        for path in corpus_folders.places(manual_dir, FOLDERS, [_STORIES])
    }
    folders = {
        os.path.relpath(path, root): path
        for path, names in names_of.items()
        if any(name.endswith(SUFFIX) for name in names)
    }
    if not folders:
        raise MissingData(
            f"{_CORPUS}: no *{SUFFIX} in {root}, nor in {_STORIES} or "
            f"{', '.join(FOLDERS)} in it: the folder given by --manual_dir (or "
            "MTL_TF_MANUAL_DIR) must hold the unpacked official archives"
        )
    kinds = [
        {split: _matches(names_of, pattern) for split, pattern in kind.items()}
        for kind in _LISTS
    ]
    best = max(kinds, key=lambda kind: sum(map(bool, kind.values())))
    return Files(folders, {split: x for split, x in best.items() if x})


def _matches(names_of: Mapping[str, Sequence[str]], pattern: str) -> list[str]:
    """The lists with a name, each once, although there may be copies.

    Those of the two papers may differ in their folders only.
    """
    found: dict[str, str] = {}
    for folder, names in names_of.items():
        for name in sorted(fnmatch.filter(names, pattern)):
            path = os.path.join(folder, name)
            found.setdefault(digests.of_file(path), path)
    return list(found.values())


def divide(files: Files) -> tuple[dict[str, list[str]], list[str]]:
    """The paths of the stories of each split, and warnings about them.

    The lists decide: a story's name is the SHA-1 of its URL. Without lists,
    stories are sorted by the hash of their name; a twentieth becomes
    validation, and another one test.

    Raises:
        DataError: no story is in a list.
    """
    stories = {
        name: os.path.join(folder, name)
        for folder in files.folders.values()
        for name in sorted(os.listdir(folder))
        if name.endswith(SUFFIX)
    }
    if not files.lists:
        return _by_hash(stories)
    splits: dict[str, list[str]] = {}
    warnings = []
    taken: set[str] = set()
    for split, lists in files.lists.items():
        splits[split] = []
        for path in lists:
            file = LineFile(path)
            names = [_name(line) for line in file.lines if line.strip()]
            new = [n for n in names if n in stories and n not in taken]
            taken.update(new)
            splits[split] += [stories[name] for name in new]
            if lost := len(names) - len(new):
                file.warn(
                    f"{count(lost, 'line')} of {len(names):,} without a story "
                    "that is not taken yet"
                )
            warnings += file.warnings
    if not taken:
        raise DataError(
            f"{next(iter(files.lists.values()))[0]}: none of its addresses has "
            f"a story in {', '.join(files.folders.values())}, where stories "
            "must be named by the SHA-1 of their address, in hexadecimal digits"
        )
    warnings += absent(
        {split: [name] for split, name in _LISTS[0].items()}, files.lists
    )
    if unlisted := len(stories) - len(taken):
        warnings.append(f"stories: {unlisted:,} in no list, left out")
    return splits, warnings


def _name(address: str) -> str:
    return hashlib.sha1(address.strip().encode()).hexdigest() + SUFFIX


def _by_hash(
    stories: Mapping[str, str],
) -> tuple[dict[str, list[str]], list[str]]:
    ordered = sorted(
        stories, key=lambda name: hashlib.sha1(name.encode()).digest()
    )
    paths = [stories[name] for name in ordered]
    size = -(-len(paths) // _HELD_OUT) if len(paths) > 2 else 0
    splits = {
        "train": paths[2 * size :],
        "validation": paths[:size],
        "test": paths[size : 2 * size],
    }
    warning = (
        f"stories: no lists of addresses ({', '.join(_LISTS[0].values())}) are "
        "there, divided by hash: no scores to compare with published ones"
    )
    return splits, [warning]


class Story(NamedTuple):
    """A text, its summary, and whether its file was UTF-8."""

    text: str
    summary: str
    is_utf8: bool


def read_story(path: str) -> Story:
    """Reads one file; lines are joined by spaces, as in decaNLP.

    Raises:
        DataError: it cannot be read.
    """
    content = read_file(path)
    try:
        text, is_utf8 = content.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        text, is_utf8 = content.decode("latin-1"), False
    body, *highlights = re.split(rf"(?m)^\s*{_HIGHLIGHT}\b", text)
    return Story(_join(body), _join("\n".join(highlights)), is_utf8)


def _join(text: str) -> str:
    lines = filter(None, (line.strip() for line in text.split("\n")))
    ended = [x if x.endswith(_ENDS) else f"{x}." for x in lines]
    return unicodedata.normalize("NFKC", " ".join(ended))
