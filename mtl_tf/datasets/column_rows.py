"""Sentences of a column file from single lines."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets import column_files
from mtl_tf.datasets.column_files import Row
from mtl_tf.datasets.lines import short

# As in CoNLL-U: `# sent_id = 1`.
_COMMENT = re.compile("# *[A-Za-z_:]+ *= ")


@dataclasses.dataclass(frozen=True)
class ColumnLayout:
    """The position of tokens in a column file.

    Attributes:
        tokens: the number of their column, from 0, or negative from the last.
        separator: separates columns; "" for any number of spaces and tabs.
        comment: the prefix of lines without a token; "" for none.
        conllu: whether lines are numbered as in CoNLL-U, where ranges (`3-4`)
            and empty nodes (`8.1`) are no words.
        one_width: whether a line must have as many columns as the file's first
            token.
    """

    tokens: int = 0
    separator: str = ""
    comment: str = ""
    conllu: bool = False
    one_width: bool = False


#: Tokens in the first column.
PLAIN = ColumnLayout()
#: Words of CoNLL-U.
CONLLU = ColumnLayout(
    tokens=column_files.CONLLU_COLUMNS.index("form"),
    separator=column_files.CONLLU_SEPARATOR,
    comment=column_files.CONLLU_COMMENT,
    conllu=True,
    one_width=True,
)


class ColumnSentence(NamedTuple):
    r"""A sentence, and its lines as they are in the file.

    Attributes:
        rows: its tokens, at least one.
        lines: all lines after the previous sentence up to the line that ends
            this one, included, with `\r` but without `\n`. They include blank
            lines, comments, document marks and, in CoNLL-U, lines that are no
            words.
        first_line: the number of the first of `lines`, from 1.
    """

    rows: Sequence[Row]
    lines: Sequence[str]
    first_line: int


class ColumnRows:
    """Joins lines to sentences.

    Args:
        name: the file's name, for messages.
        layout: the file's layout.

    Attributes:
        rest: the lines that belong to no sentence yet; at the end of input,
            those after the last one.
    """

    def __init__(self, name: str, layout: ColumnLayout = PLAIN):
        self._name, self._layout = name, layout
        self._rows: list[Row] = []
        self._width = len(column_files.CONLLU_COLUMNS) * layout.conllu
        self._first_line = 1
        self._first_token = ""
        self.rest: list[str] = []

    def add(self, line: str, number: int) -> ColumnSentence | None:
        r"""The sentence that a line ends, if it ends one.

        Args:
            line: the line without `\n`; a `\r` is no part of a cell.
            number: the line's number, from 1.

        Raises:
            DataError: the line is wrong; the message names `file:line`.
        """
        self.rest.append(line)
        line = line.removesuffix("\r")
        comment = self._layout.comment
        if comment and line.startswith(comment):
            return None
        if column_files.ends_sentence(line):
            return self.sentence()
        row = Row(number, column_files.cells_of(line, self._layout.separator))
        self._width = self._width or len(row.cells)
        if self._layout.one_width:
            self._check(row, line)
        self._rows.append(row)
        return None

    def _check(self, row: Row, line: str) -> None:
        """Refuses a line of another width, or an unexpected comment."""
        self._first_token = self._first_token or line
        is_odd = len(row.cells) != self._width
        odd = line if line.startswith("#") else self._first_token
        if not self._layout.comment and (
            _COMMENT.match(line) or (is_odd and odd.startswith("#"))
        ):
            raise DataError(
                f"{self._name}:{row.line}: {short(odd)} is read as a token and "
                "its columns: if # begins a comment, give --comment=#"
            )
        column_files.check_width(
            self._name, row, line, self._width, self._layout.separator
        )

    def sentence(self) -> ColumnSentence | None:
        """The sentence of the lines read so far, if it has a token."""
        rows, self._rows = self._rows, []
        if self._layout.conllu:
            rows = column_files.conllu_words(self._name, rows)
        if not rows:
            return None
        sentence = ColumnSentence(rows, self.rest, self._first_line)
        self._first_line += len(self.rest)
        self.rest = []
        return sentence

    def tokens(self, sentence: ColumnSentence) -> list[str]:
        """The tokens of a sentence.

        Raises:
            DataError: a line has none; the message names `file:line`.
        """
        number = self._layout.tokens
        return column_files.column(self._name, sentence.rows, number, "tokens")


def numbered(columns: Mapping[str, str], form: str) -> dict[str, int]:
    """The columns named by `--columns`, as numbers.

    Args:
        columns: field to column: a number or, for "conllu", a name.
        form: the form of the input.

    Raises:
        ConfigError: there is no such column.
    """
    rule = "a number, from 0 or negative from the last"
    if form == "conllu":
        rule = f"one of {', '.join(column_files.CONLLU_COLUMNS)}"
    numbers = {}
    for field, column in columns.items():
        if form == "conllu" and column.lower() in column_files.CONLLU_COLUMNS:
            numbers[field] = column_files.CONLLU_COLUMNS.index(column.lower())
        elif form != "conllu" and re.fullmatch("-?[0-9]{1,4}", column):
            numbers[field] = int(column)
        else:
            raise ConfigError(
                f"--columns: the column of {field} must be {rule}, got "
                f"{column!r}"
            )
    return numbers
