"""QA-ZRE from the tab-separated files of its first division of relations."""

from collections.abc import Iterator, Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, Oddities, count, short
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder

UNANSWERABLE = "unanswerable"
_SUBJECT = "XXX"  # stands for the subject in a question
_FIELDS = ("relation", "question", "subject", "context")


class Builder(QuestionAnswerBuilder):
    """Builds QA-ZRE: train, validation (the official dev) and test.

    The splits have no relation in common.
    """

    FOLDERS = ("qa_zre", "zre", "relation_splits")
    # Of the ten released divisions, that of McCann et al.
    FILES = {
        "train": ("train.0",),
        "validation": ("dev.0",),
        "test": ("test.0",),
    }
    COUNTS = {"train": 840_000, "validation": 600, "test": 12_000}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put train.0, dev.0 and test.0 of the official relation_splits.tar.bz2,
    packed (.gz) or not, into manual_dir/qa_zre/ or into manual_dir itself. See
    the README beside this builder.
    """

    def read_split(self, split: str, files: Sequence[LineFile]) -> "_Rows":
        """The questions, made on demand, as there are many."""
        del split
        (file,) = files
        odd = Oddities(file)
        for number, line in enumerate(file.lines, 1):
            _check(file, number, line, odd)
        odd.report()
        return _Rows(file)


class _Rows:
    """The examples of a file that has been checked."""

    def __init__(self, file: LineFile):
        self._file = file

    def __iter__(self) -> Iterator[QuestionAnswer]:
        for number, line in enumerate(self._file.lines, 1):
            _, question, subject, context, *answers = _split(line)
            if context and question:
                yield QuestionAnswer(
                    question.replace(_SUBJECT, subject),
                    context,
                    (", ".join(filter(None, answers)) or UNANSWERABLE,),
                    f"{self._file.name}:{number}",
                )


def _split(line: str) -> list[str]:
    """The fields of a line; a blank line has empty fields."""
    fields = [field.strip(" ") for field in line.split("\t")]
    return fields if line.strip() else [""] * len(_FIELDS)


def _check(file: LineFile, number: int, line: str, odd: Oddities) -> None:
    location = f"{file.path}:{number}"
    if not line.strip():
        odd.add("line", "blank, left out", number)
        return
    fields = _split(line)
    if len(fields) < len(_FIELDS):
        raise DataError(
            f"{location}: {count(len(fields), 'field')} in {short(line)}; it "
            f"must be {', '.join(_FIELDS)} and the answers, with tabs "
            "between them"
        )
    _, question, subject, context, *answers = fields
    if not question or not context:
        empty = "context" if question else "question"
        odd.add("line", f"with an empty {empty}, left out", number)
        return
    if _SUBJECT not in question:
        odd.add("question", f"without {_SUBJECT} for its subject, kept", number)
    elif not subject:
        odd.add("question", "with an empty subject, kept", number)
    if any(answers) and not all(answers):
        odd.add("line", "with an empty answer beside others", number)
