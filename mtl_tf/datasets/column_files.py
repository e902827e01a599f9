"""Sentences from column files: a token a line, blank lines between.

This is the format of the CoNLL shared tasks. Only spaces and tabs are white
space here. A no-break space, or other space that `str.split` splits at, is part
of its token.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import count, short

DOCUMENT = "-DOCSTART-"
CONLLU_COLUMNS = (
    "id",
    "form",
    "lemma",
    "upos",
    "xpos",
    "feats",
    "head",
    "deprel",
    "deps",
    "misc",
)
CONLLU_SEPARATOR, CONLLU_COMMENT = "\t", "#"
_BLANKS = re.compile("[ \t]+")
# A token and its tag, as in The/DT or The_DT.
_PAIR = re.compile(".+[/_][^/_]+")
_WORD_ID = re.compile("[0-9]+")
# 3-4 is a token of several words, 8.1 an omitted word; neither is a word of the
# sentence.
_OTHER_ID = re.compile(r"[0-9]+(?:-[0-9]+|\.[0-9]+)")


class Row(NamedTuple):
    """The cells of one token; lines count from 1."""

    line: int
    cells: list[str]


Sentence = list[Row]


def read_sentences(
    path: str,
    lines: Iterable[str],
    separator: str = "",
    comment: str = "",
    columns: int = 0,
    wanted: Sequence[int] = (),
) -> Iterator[Sentence]:
    """Yields the sentences of a file; none of them is empty.

    One or more blank lines, also of white space, end a sentence. So does a line
    that starts with `-DOCSTART-`, which is skipped.

    Args:
        path: the file, for messages.
        lines: its lines.
        separator: separates columns; "" for any number of spaces and tabs.
            Spaces and tabs at the ends of a line or a cell do not count.
        comment: the prefix of lines that are skipped; "" for none.
        columns: the required number of columns; 0 for that of the first token.
        wanted: the columns that are read. If they are given, and none is
            counted from the last one, each sentence may have its own number
            of columns, as in CoNLL-2012; see `may_vary`.

    Raises:
        DataError: a line has another number of columns; the message names
            `file:line`.
    """
    sentence: Sentence = []
    first, varies = "", not columns and may_vary(wanted)
    advises = not columns and not varies
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if comment and line.startswith(comment):
            continue
        if ends_sentence(line):
            if sentence:
                yield sentence
            if varies:
                columns, first = 0, ""
            sentence = []
            continue
        row = Row(number, cells_of(line, separator))
        columns = columns or len(row.cells)
        first = first or line
        begins = advises and not sentence
        check_width(path, row, line, columns, separator, first, begins)
        sentence.append(row)
    if sentence:
        yield sentence


def may_vary(wanted: Sequence[int]) -> bool:
    """Whether the number of columns says nothing about those that are read."""
    return bool(wanted) and min(wanted) >= 0


def ends_sentence(line: str) -> bool:
    """Whether a line, without its end and no comment, ends a sentence."""
    return not line.strip(" \t") or line.startswith(DOCUMENT)


def cells_of(line: str, separator: str = "") -> list[str]:
    """The cells of a line; see `read_sentences`."""
    if separator:
        return [cell.strip(" \t") for cell in line.split(separator)]
    return _BLANKS.split(line.strip(" \t"))


def check_width(
    path: str,
    row: Row,
    line: str,
    columns: int,
    separator: str = "",
    first: str = "",
    begins: bool = False,
) -> None:
    """Raises `DataError` if a line has another number of columns.

    Args:
        path: the file, for the message.
        row: the line's cells.
        line: the line.
        columns: the required number.
        separator: see `read_sentences`.
        first: the line that set the number, if one did.
        begins: whether the line begins a sentence, and sentences might have
            different numbers of columns.
    """
    if len(row.cells) == columns:
        return
    advice = ""
    if len(row.cells) > 1 and all(map(_PAIR.fullmatch, row.cells)):
        advice = (
            " (these look like pairs word/tag: write a token and its tag a "
            "line, and a blank line after each sentence)"
        )
    elif first.startswith("#") != line.startswith("#"):
        advice = " (if lines that begin with '#' are comments, set comment)"
    elif separator and separator not in line:
        name = {"\t": "a tab"}.get(separator, repr(separator))
        advice = f" ({name} separates them, and the line has none)"
    elif begins:
        advice = (
            " (if their number differs by sentence, give the columns that are "
            "read by numbers from 0)"
        )
    raise DataError(
        f"{path}:{row.line}: {count(len(row.cells), 'column')}, but "
        f"{columns} are wanted{advice}: {short(line)}"
    )


def read_conllu(path: str, lines: Iterable[str]) -> Iterator[Sentence]:
    """Yields the sentences of a CoNLL-U file, as rows of their words.

    Ranges (`3-4`, the written form of several words) and empty nodes (`8.1`)
    are left out. The words that remain are those with tags.

    Raises:
        DataError: a line does not have ten columns, or the words of a sentence
            are not numbered 1, 2, ...; the message names `file:line`.
    """
    settings = {
        "separator": CONLLU_SEPARATOR,
        "comment": CONLLU_COMMENT,
        "columns": len(CONLLU_COLUMNS),
    }
    for sentence in read_sentences(path, lines, **settings):
        words = conllu_words(path, sentence)
        if words:
            yield words


def conllu_words(path: str, sentence: Iterable[Row]) -> Sentence:
    """The words among the rows of a CoNLL-U sentence; see `read_conllu`."""
    words: Sentence = []
    for row in sentence:
        number = row.cells[0]
        if _OTHER_ID.fullmatch(number):
            continue
        if not _WORD_ID.fullmatch(number) or int(number) != len(words) + 1:
            raise DataError(
                f"{path}:{row.line}: the id {short(number)} where word "
                f"{len(words) + 1} of its sentence is due"
            )
        words.append(row)
    return words


def column(
    path: str, sentence: Sequence[Row], number: int, noun: str
) -> list[str]:
    """One column of a sentence.

    Args:
        path: the file, for messages.
        sentence: its rows.
        number: the column's number, from 0; negative ones count from the last.
        noun: the column's meaning, for messages.

    Raises:
        DataError: there is no such column, or a cell is empty; the message
            names `file:line`.
    """
    cells = []
    for row in sentence:
        if not -len(row.cells) <= number < len(row.cells):
            raise DataError(
                f"{path}:{row.line}: {count(len(row.cells), 'column')}, but "
                f"the {noun} are wanted in column {number} (counted from 0)"
            )
        cell = row.cells[number]
        if not cell:
            raise DataError(f"{path}:{row.line}: column {number} is empty")
        cells.append(cell)
    return cells
