"""MWSC from schema.txt, which came with the code of McCann et al. (2018)."""

import re
from collections.abc import Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import (
    LineFile,
    Numbered,
    Oddities,
    count,
    short,
)
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder

_SCHEMAS = "schemas"
_RELEASED = 132
_PARTS = ("context", "question", "answers")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")


class Builder(QuestionAnswerBuilder):
    """Builds MWSC: two examples per schema; positions decide the split."""

    FOLDERS = ("mwsc", "local_data")
    FILES = {_SCHEMAS: ("schema.txt",)}
    # In the file's order. Examples after the 262nd are in no split, as the
    # authors' reader misses the last schema.
    COUNTS = {"train": 80, "validation": 82, "test": 100}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put schema.txt, from local_data/ of github.com/salesforce/decaNLP, into
    manual_dir/mwsc/ or into manual_dir itself. See the README beside this
    builder.
    """

    def read_split(
        self, split: str, files: Sequence[LineFile]
    ) -> list[QuestionAnswer]:
        """Both examples of every schema, in the order of the file."""
        del split
        (file,) = files
        odd = Oddities(file)
        blocks = [
            [(number, line.strip()) for number, line in block]
            for block in file.blocks()
        ]
        rows = [row for block in blocks for row in _examples(file, block, odd)]
        odd.report()
        if len(blocks) != _RELEASED:
            file.warn(
                f"{count(len(blocks), 'schema')}; the released file has "
                f"{_RELEASED}"
            )
        return rows

    def divide(
        self, parts: dict[str, list[QuestionAnswer]], warnings: list[str]
    ) -> dict[str, list[QuestionAnswer]]:
        """The splits; for a short file, those that get any examples."""
        rows, splits = parts[_SCHEMAS], {}
        if not rows:
            return {"train": rows}
        for split, size in self.COUNTS.items():
            if rows:
                splits[split], rows = rows[:size], rows[size:]
        # The released file has one schema left over, which needs no warning.
        if len(rows) > 2 * _RELEASED - sum(self.COUNTS.values()):
            warnings.append(
                f"{count(len(rows), 'example')} at the end of the file in no "
                f"split: they have {sum(self.COUNTS.values())} together"
            )
        return splits


def _examples(
    file: LineFile, block: Sequence[Numbered], odd: Oddities
) -> list[QuestionAnswer]:
    first = block[0][0]
    if len(block) != len(_PARTS):
        raise DataError(
            f"{file.path}:{first}: {count(len(block), 'line')} in the schema "
            f"that begins {short(block[0][1])}; there must be three, "
            f"{', '.join(_PARTS)}, and a blank line behind them"
        )
    (_, context), (_, question), (number, line) = block
    answers = [answer.strip() for answer in line.split("/")]
    if len(answers) != 2 or not all(answers) or answers[0] == answers[1]:
        raise DataError(
            f"{file.path}:{number}: found {short(line)}; it must be two "
            "answers with / between them"
        )
    if not question.endswith("?"):
        odd.add("question", "without a question mark, kept", block[1][0])
    contexts, questions = (_both_texts(file, n, text) for n, text in block[:2])
    if contexts[0] == contexts[1] and questions[0] == questions[1]:
        raise DataError(
            f"{file.path}:{first}: no [one/other] in the context "
            f"{short(context)} nor in its question: nothing tells the two "
            "answers apart"
        )
    return [
        QuestionAnswer(
            f"{questions[i]} {answers[0]} or {answers[1]}?",
            contexts[i],
            (answers[i],),
            f"{file.name}:{first}/{i}",
        )
        for i in range(2)
    ]


def _both_texts(file: LineFile, number: int, text: str) -> tuple[str, str]:
    """The text with the first, and with the second, of every [one/other]."""
    location = f"{file.path}:{number}"
    for match in _CHOICE.finditer(text):
        if match[1].count("/") != 1:
            raise DataError(
                f"{location}: found {short(match[0])}; it must be two choices "
                "in brackets with / between them"
            )
    rest = _CHOICE.sub("", text)
    if "[" in rest or "]" in rest:
        raise DataError(
            f"{location}: a bracket without its partner in {short(text)}; "
            "choices stand as [one/other]"
        )
    first, second = (
        _CHOICE.sub(lambda match: match[1].split("/")[i], text)  # noqa: B023
        for i in range(2)
    )
    return first, second
