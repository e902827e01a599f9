"""Reads the files of 2015: sentences, predicates, questions, answers."""

from collections.abc import Iterator

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, Numbered, Oddities, short
from mtl_tf.datasets.qa_srl.words import plain
from mtl_tf.datasets.question_answers import QuestionAnswer

_SLOTS = 7  # wh, auxiliary, subject, verb, object, preposition, object
_MARK = "?"
_NOTHING = "_"
_BETWEEN_ANSWERS = "###"


def read(file: LineFile) -> list[QuestionAnswer]:
    """The questions of a file, in its order.

    A block is a sentence: `ID TAB predicates`, the sentence, and for each
    predicate `index TAB predicate TAB questions` and its questions. A question
    has seven slots, `_` if empty, then `?` and the answers, all separated by
    tabs; ` ### ` separates answers. A blank line ends a block.

    Raises:
        DataError: a line is none of these; the message names `file:line`.
    """
    odd, rows = Oddities(file), []
    for block in file.blocks():
        rows += _sentence(file, block, odd)
    odd.report()
    return rows


def _sentence(
    file: LineFile, block: list[Numbered], odd: Oddities
) -> Iterator[QuestionAnswer]:
    (number, head), *rest = block
    name, predicates = _head(file, number, head)
    if not rest:
        raise DataError(
            f"{file.path}:{number}: no sentence follows {short(head)}; it must "
            "be in the next line"
        )
    sentence = plain(rest[0][1].strip())
    to_come: dict[int, int] = {}  # remaining questions, by predicate's line
    predicate, start, questions = "", 0, 0
    for number, line in rest[1:]:
        fields = [field.strip() for field in line.split("\t")]
        if _MARK in fields:
            if not predicate:
                raise DataError(
                    f"{file.path}:{number}: a question before any predicate; "
                    "it must follow a line 'index, predicate, questions'"
                )
            question, answers = _question(file, number, fields, odd)
            to_come[start] -= 1
            if answers:
                yield QuestionAnswer(
                    question,
                    sentence,
                    answers,
                    f"{name}/{predicate}/{questions}",
                )
            else:
                odd.add("question", "without an answer, left out", number)
            questions += 1
            continue
        predicate, to_come[number] = _predicate(file, number, fields)
        start, questions = number, 0
    if len(to_come) != predicates:
        odd.add(
            "sentence", "with other than its number of predicates", block[0][0]
        )
    for number in filter(to_come.get, to_come):
        odd.add("predicate", "with other than its number of questions", number)


def _head(file: LineFile, number: int, line: str) -> tuple[str, int]:
    """A sentence's name, and its announced number of predicates."""
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) != 2 or not fields[0] or not _is_number(fields[1]):
        raise DataError(
            f"{file.path}:{number}: a block begins with {short(line)}; it must "
            "be the sentence's ID, a tab and the number of its predicates"
        )
    return fields[0], int(fields[1])


def _predicate(
    file: LineFile, number: int, fields: list[str]
) -> tuple[str, int]:
    """A predicate's index, and its announced number of questions."""
    is_right = len(fields) == 3 and fields[1]
    if not (is_right and _is_number(fields[0]) and _is_number(fields[2])):
        raise DataError(
            f"{file.path}:{number}: found {short(' '.join(fields))}; it must "
            "be a predicate (index, word, number of questions) or a question "
            f"({_SLOTS} slots, {_MARK}, answers), with tabs between them"
        )
    return fields[0], int(fields[2])


def _question(
    file: LineFile, number: int, fields: list[str], odd: Oddities
) -> tuple[str, tuple[str, ...]]:
    end = fields.index(_MARK)
    slots = [slot for slot in fields[:end] if slot not in ("", _NOTHING)]
    if not slots:
        raise DataError(
            f"{file.path}:{number}: found {short(' '.join(fields))}; a "
            f"question must have words in some of its {_SLOTS} slots"
        )
    if end != _SLOTS:
        odd.add("question", f"without its {_SLOTS} slots, kept", number)
    answers = [
        plain(answer.strip())
        for answer in " ".join(fields[end + 1 :]).split(_BETWEEN_ANSWERS)
    ]
    if any(answers) and not all(answers):
        odd.add("question", "with an empty answer beside others", number)
    return plain(" ".join(slots)) + _MARK, tuple(filter(None, answers))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
