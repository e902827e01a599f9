"""The official `.story` files of CNN/DailyMail, and their splits."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.lines import LineFile, count
from mtl_tf.datasets.question_builders import find_directory
from mtl_tf.datasets.sources import read_file

SUFFIX = ".story"
_CORPUS = "decanlp_cnn_dailymail"
_NAMES = (_CORPUS, "cnn_dailymail", "cnn_dm")
# The folders of stories, as unpacked from the two archives or redistributed.
_STORIES = (
    "",
    "stories",
    *(
        pattern.format(paper)
        for paper in ("cnn", "dailymail")
        for pattern in ("{0}_stories", "{0}/stories", "{0}_stories/{0}/stories")
    ),
)
# The folders and names of lists of URLs; the first one found of each kind.
_LISTS = ("", "url_lists", "cnn", "dailymail")
_LIST_NAMES: Sequence[Mapping[str, Sequence[str]]] = (
    {
        "train": ["all_train.txt"],
        "validation": ["all_val.txt"],
        "test": ["all_test.txt"],
    },
    {
        split: [f"{paper}_wayback_{part}_urls.txt" for paper in _LISTS[2:]]
        for split, part in (
            ("train", "training"),
            ("validation", "validation"),
            ("test", "test"),
        )
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
        return self.folders | {os.path.basename(path): path for path in lists}


def find(manual_dir: str) -> Files:
    """Finds the folders of stories, and the lists of URLs.

    Raises:
        DataError: there is no such folder (`MissingData`: no story in it).
    """
    root = find_directory(manual_dir, _NAMES)
    folders = {
        name or "stories here": path
        for name in _STORIES
        if _has_stories(path := os.path.join(root, name).rstrip(os.sep))
    }
    if not folders:
        raise MissingData(
            f"{_CORPUS}: no *{SUFFIX} in {root} nor in its folders "
            f"{', '.join(filter(None, _STORIES))}: the folder given by "
            "--manual_dir (or MTL_TF_MANUAL_DIR) must hold the unpacked "
            "official archives"
        )
    for names in _LIST_NAMES:
        lists = {
            split: _lists(root, list_names)
            for split, list_names in names.items()
        }
        if any(lists.values()):
            return Files(folders, {s: p for s, p in lists.items() if p})
    return Files(folders, {})


def _has_stories(path: str) -> bool:
    if not os.path.isdir(path):
        return False
    with os.scandir(path) as entries:
        return any(entry.name.endswith(SUFFIX) for entry in entries)


def _lists(root: str, names: Sequence[str]) -> list[str]:
    paths = [os.path.join(root, inner, n) for n in names for inner in _LISTS]
    return [path for path in paths if os.path.isfile(path)]


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
    warning = "stories: no lists of addresses are there, divided by hash"
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
