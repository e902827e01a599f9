"""SQuAD v1.1 from its JSON files."""

import os
import re
from collections.abc import Iterator, Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.json_values import JsonValue, read_json
from mtl_tf.datasets.lines import LineFile, Oddities
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder


# The TFDS catalogue also has a `squad`, and TFDS fails if a process registers a
# second builder of a name.
class Builder(QuestionAnswerBuilder, skip_registration=True):
    """Builds SQuAD v1.1: train and validation, which is the official dev."""

    FOLDERS = ("squad", "squad1.1")
    FILES = {"train": ("train-v1.1.json",), "validation": ("dev-v1.1.json",)}
    COUNTS = {"train": 87_599, "validation": 10_570}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official train-v1.1.json and dev-v1.1.json, packed (.gz) or not,
    into manual_dir/squad/ or into manual_dir itself. See the README beside
    this builder.
    """

    @classmethod
    def _pattern(cls, name: str) -> str:
        """That of the official file, and of files named as a part of it."""
        return "*".join(os.path.splitext(name))

    @classmethod
    def _path(cls, directory: str, name: str) -> str:
        """The path of the official file, or of a file named as a part of it."""
        path = super()._path(directory, name)
        if os.path.isfile(path):
            return path
        stem, end = map(re.escape, os.path.splitext(name))
        part = re.compile(rf"{stem}[\w-]+{end}(?:\.gz)?")
        folder = os.listdir(directory) if os.path.isdir(directory) else []
        matches = sorted(filter(part.fullmatch, folder))
        if len(matches) > 1:
            raise DataError(
                f"{directory} has not {name}, but {', '.join(matches)}: leave "
                f"one of them there, or name it {name}"
            )
        return os.path.join(directory, matches[0]) if matches else path

    def read_split(
        self, split: str, files: Sequence[LineFile]
    ) -> list[QuestionAnswer]:
        """The questions of all articles, in the order of the file."""
        del split
        (file,) = files
        odd = Oddities(file, "question")
        rows = []
        root = read_json(file.path, file.content)
        for article in root.get("data", list).items(dict):
            for paragraph in article.get("paragraphs", list).items(dict):
                rows += _questions(paragraph, odd)
        odd.report()
        return rows


def _questions(paragraph: JsonValue, odd: Oddities) -> Iterator[QuestionAnswer]:
    context = paragraph.get("context", str)
    for question in paragraph.get("qas", list).items(dict):
        name = question.get("id", str).value
        text = question.get("question", str).value
        answers = _answers(question, context.value, name, odd)
        if not text.strip():
            odd.add("question", "without a text, left out", name)
        elif not context.value.strip():
            odd.add("question", "on an empty context, left out", name)
        elif not answers:
            odd.add("question", "without an answer, left out", name)
        else:
            yield QuestionAnswer(text.strip(), context.value, answers, name)


def _answers(
    question: JsonValue, context: str, name: str, odd: Oddities
) -> tuple[str, ...]:
    """All gold answers, including those of annotators who agree."""
    answers = []
    for answer in question.get("answers", list).items(dict):
        text = answer.get("text", str).value
        start = answer.get("answer_start", int).value
        if not text.strip():
            odd.add("answer", "empty, left out", name)
            continue
        if start < 0 or not context.startswith(text, start):
            odd.add("answer", "not where answer_start says, kept", name)
        answers.append(text)
    return tuple(answers)
