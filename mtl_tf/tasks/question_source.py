"""Questions, contexts and answers, from files and from TFDS datasets."""

import functools
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.core.names import hint, look_up
from mtl_tf.datasets.building import QUESTIONS
from mtl_tf.tasks.prepared import PreparedDataset, Wanted
from mtl_tf.tasks.row_files import json_records, read_lines
from mtl_tf.tasks.source import SPLITS, Source

#: What a model reads, in the order in which it does, and what it writes.
INPUTS, ANSWER = ("context", "question"), "answer"
#: What is scored against: all answers that count, and what metrics need.
SCORED = ("answers", "scoring")
_NOTHING = "{}"


class _Example(NamedTuple):
    """One line of a file."""

    context: str
    question: str
    answers: list[str]
    scoring: str
    line: int


class QuestionFileSource(Source):
    """A JSON object a line, read when its split is asked for first.

    Args:
        files: path of each split's file.
        columns: the keys of `context`, `question` and `answer`.
        question: the question of all lines; "" if each has its own.
    """

    labels = ()

    def __init__(
        self,
        files: Mapping[str, str],
        columns: Mapping[str, str],
        question: str,
    ):
        super().__init__()
        self._files, self._columns = dict(files), dict(columns)
        self._question = question
        self._splits: dict[str, list[_Example]] = {}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have a file."""
        return tuple(self._files)

    def size(self, split: str) -> int:
        """Returns how many lines the split's file has."""
        return len(self._examples(split))

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the lines of the split's file, in order."""
        examples = self._examples(split)
        answers = [list(map(_bytes, one.answers)) for one in examples]
        columns = {
            name: [_bytes(getattr(one, name)) for one in examples]
            for name in (*INPUTS, "scoring")
        }
        columns[ANSWER] = [own[0] for own in answers]
        columns["answers"] = tf.ragged.constant(answers, tf.string)
        return tf.data.Dataset.from_tensor_slices(columns)

    def _examples(self, split: str) -> list[_Example]:
        if split not in self._splits:
            path = look_up(split, self._files, "split")
            lines, undecodable = read_lines(path)
            examples = [
                self._example(path, number, record)
                for number, record in json_records(path, lines)
            ]
            if not examples:
                raise DataError(f"{path} is empty: it has no examples")
            self._warn(path, examples, undecodable)
            self._splits[split] = examples
        return self._splits[split]

    def _example(
        self, path: str, line: int, record: Mapping[str, Any]
    ) -> _Example:
        where = f"{path}:{line}"
        texts = {}
        for name in INPUTS:
            if name == "question" and self._question:
                texts[name] = self._question
                continue
            texts[name] = self._value(where, record, self._columns[name])
            if not isinstance(texts[name], str):
                raise DataError(
                    f"{where}: {self._columns[name]} must be a text, found "
                    f"{_short(texts[name])}"
                )
        key = self._columns[ANSWER]
        if key not in record and "answers" in record:
            key = "answers"
        answers = self._value(where, record, key)
        answers = [answers] if isinstance(answers, str) else answers
        right = isinstance(answers, list) and answers
        if not right or not all(isinstance(one, str) for one in answers):
            raise DataError(
                f"{where}: {key} must be a text or a list of texts, found "
                f"{_short(answers)}"
            )
        scoring = record.get("scoring", {})
        if not isinstance(scoring, Mapping):
            raise DataError(
                f"{where}: scoring must be an object, found {_short(scoring)}"
            )
        scoring = json.dumps(scoring, sort_keys=True)
        return _Example(**texts, answers=answers, scoring=scoring, line=line)

    def _value(self, where: str, record: Mapping[str, Any], key: str) -> Any:
        if key not in record:
            raise DataError(f"{where}: no {key!r}; {hint(key, record)}")
        return record[key]

    def _warn(
        self, path: str, examples: list[_Example], undecodable: list[int]
    ) -> None:
        counted = {
            "not UTF-8, read as Latin-1": undecodable,
            "without an answer": [
                one.line for one in examples if not one.answers[0].strip()
            ],
            "without a question": [
                one.line for one in examples if not one.question.strip()
            ],
        }
        for what, lines in counted.items():
            if lines:
                noun = "line" if len(lines) == 1 else "lines"
                warning = (
                    f"{path}: {len(lines)} {noun} {what} (first: line "
                    f"{lines[0]})"
                )
                logging.warning("%s", warning)
                self.warnings.append(warning)


class QuestionDatasetSource(Source):
    """A TFDS dataset of questions, prepared when it is asked for first.

    Args:
        name: of the dataset, with its config: "squad", "iwslt2016/en-de".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        columns: the features of `context`, `question` and `answer`, and of
            our own corpora `answers` and `scoring`; without these two the
            answer is the only right one.
    """

    labels = ()

    def __init__(
        self,
        name: str,
        data_dir: str,
        manual_dir: str,
        columns: Mapping[str, str],
    ):
        super().__init__()
        self._own = name.partition("/")[0] in QUESTIONS
        self._name = name
        several = {"answers": "a list of texts"}
        wanted = [
            Wanted(
                *(role, column, (tf.string,), int(role in several)),
                several.get(role, "a text"),
            )
            for role, column in columns.items()
        ]
        self._columns = dict(columns)
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, wanted, self.warnings
        )

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns how many examples a split or a slice of one has.

        Raises:
            MissingData: a split that a release has, of one that is there in
                part.
        """
        if self._own and split in SPLITS and split not in self.split_names:
            raise MissingData(
                f"{self._name} has no {split} split: of its files only those "
                f"of {', '.join(self.split_names)} are there. An entry with "
                "`splits` can divide these, such as 'validation[:80%]'"
            )
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split or of a slice of one, in order."""
        self.size(split)
        return self._dataset.examples(split).map(
            functools.partial(_named, self._columns)
        )


@tf.autograph.experimental.do_not_convert
def _named(
    columns: Mapping[str, str], example: Mapping[str, Any]
) -> dict[str, Any]:
    found = {key: example[column] for key, column in columns.items()}
    found.setdefault("answers", found[ANSWER][None])
    found.setdefault("scoring", tf.constant(_NOTHING))
    return found


def _bytes(text: str) -> bytes:
    # JSON can spell halves of surrogate pairs, which UTF-8 cannot.
    return text.encode("utf-8", "replace")


def _short(value: Any) -> str:
    return f"{json.dumps(value, ensure_ascii=False):.60}"
