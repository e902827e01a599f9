"""Reading the treebank's bracketed trees: `(3 (2 It) (4 (3 's) (3 good)))`."""

import re
from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, count, short

# An opening bracket with its label, a closing bracket, or text between.
_PART = re.compile(r"\(([^\s()]*) |(\))|([^()]+)|(\()")
# The Penn Treebank's spellings of characters in its own notation.
_SPELLINGS = (("-LRB-", "("), ("-RRB-", ")"), ("\\/", "/"), ("\\*", "*"))
_LABELS = ("0", "1", "2", "3", "4")


class Phrase(NamedTuple):
    """A node of a tree: its words, joined by spaces, and its label, 0 to 4."""

    text: str
    label: int


class _Node:
    """An open or finished node, over the words [start, end)."""

    def __init__(self, label: str, start: int):
        self.label = label
        self.start = start
        self.end = start
        self.is_leaf = False


def read_trees(file: LineFile) -> list[list[Phrase]]:
    """The phrases of each tree of a file, one tree a line.

    Blank lines at the end are ignored. Words have their original spelling:
    `-LRB-` is `(`, `\\/` is `/`. A word with a space is kept and counted.

    Returns:
        For each tree its phrases, each before its parts; the first is the
        sentence.

    Raises:
        DataError: a line is not a tree; the message names `file:line`.
    """
    lines = list(file.lines)
    while lines and not lines[-1].strip():
        lines.pop()
    trees, spaced = [], []
    for number, line in enumerate(lines, 1):
        try:
            words, nodes = _parse(line)
        except ValueError as error:
            raise DataError(f"{file.path}:{number}: {error}")
        spaced += [number for word in words if " " in word]
        trees.append(
            [
                Phrase(" ".join(words[n.start : n.end]), int(n.label))
                for n in nodes
            ]
        )
    if spaced:
        file.warn(
            f"{count(len(spaced), 'word')} with a space inside, kept (first: "
            f"line {spaced[0]})"
        )
    return trees


def _parse(line: str) -> tuple[list[str], list[_Node]]:
    """The words of a tree and its nodes, the root first.

    Raises:
        ValueError: it is not a tree; the message says why and where.
    """
    words: list[str] = []
    nodes: list[_Node] = []
    open_nodes: list[_Node] = []
    for match in _PART.finditer(line):
        label, closing, text, bare = match.groups()
        position = (
            f"at column {match.start() + 1}: {short(line[match.start() :])}"
        )
        if bare:
            raise ValueError(
                f"a bracket without a label and a space {position}"
            )
        if not open_nodes and (nodes or label is None):
            if text and not text.strip():
                continue
            raise ValueError(f"text outside of the tree {position}")
        if label is not None:
            _open(label, position, words, nodes, open_nodes)
        elif closing:
            node = open_nodes.pop()
            node.end = len(words)
            if node.end == node.start:
                raise ValueError(f"a phrase without words ends {position}")
        elif text.strip():
            _add_word(text.strip(), position, words, open_nodes[-1])
    if open_nodes or not nodes:
        raise ValueError(
            f"{count(len(open_nodes), 'bracket')} not closed in the tree "
            f"{short(line)}"
            if nodes
            else f"no tree in the line {short(line)}"
        )
    return words, nodes


def _open(
    label: str,
    position: str,
    words: list[str],
    nodes: list[_Node],
    open_nodes: list[_Node],
) -> None:
    if label not in _LABELS:
        raise ValueError(
            f"unknown label {short(label)}, it must be 0 to 4, {position}"
        )
    if open_nodes and open_nodes[-1].is_leaf:
        raise ValueError(
            f"a phrase follows a word inside of a phrase {position}"
        )
    node = _Node(label, len(words))
    nodes.append(node)
    open_nodes.append(node)


def _add_word(text: str, position: str, words: list[str], node: _Node) -> None:
    if len(words) > node.start:
        raise ValueError(
            f"a word follows a phrase inside of a phrase {position}"
        )
    for written, plain in _SPELLINGS:
        text = text.replace(written, plain)
    node.is_leaf = True
    words.append(text)
