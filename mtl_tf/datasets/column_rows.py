"""Sentences of a column file whose lines come one at a time."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets import column_files
from mtl_tf.datasets.column_files import Row
from mtl_tf.datasets.lines import short

# As CoNLL-U has them: `# sent_id = 1`.
_COMMENT = re.compile("# *[A-Za-z_:]+ *= ")


@dataclasses.dataclass(frozen=True)
class ColumnLayout:
    """Where the tokens of a column file stand.

    Attributes:
        tokens: number of their column, from 0 or negative from the last.
        separator: what stands between columns; "" for any number of spaces
            and tabs.
        comment: how lines begin that are no tokens; "" for none.
        conllu: whether lines are numbered, as in CoNLL-U, with ranges (`3-4`)
            and empty nodes (`8.1`) that are no words.
        one_width: whether a line with another number of columns than the
            file's first token is an error.
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
        lines: all lines since the sentence before, up to and with the one that
            ends this sentence, with a `\r` but without a `\n`: blank ones,
            comments, documents, and in CoNLL-U what is no word.
        first_line: the number of the first of `lines`, from 1.
    """

    rows: Sequence[Row]
    lines: Sequence[str]
    first_line: int


class ColumnRows:
    """Puts lines together to sentences.

    Args:
        name: of the file, for messages.
        layout: of the file.

    Attributes:
        rest: lines that are of no sentence yet; once the input has ended, those
            behind the last one.
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
            line: without its `\n`; a `\r` is no part of a cell.
            number: of the line, from 1.

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
        """Refuses a line of another width, and what looks like a comment."""
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
            *(self._name, row, line, self._width, self._layout.separator)
        )

    def sentence(self) -> ColumnSentence | None:
        """The sentence whose lines have been read, if it has a token."""
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
    """The columns that `--columns` names, as numbers.

    Args:
        columns: column by field: a number, or of "conllu" also a name.
        form: of the input.

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
