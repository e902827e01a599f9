"""Questions, contexts and answers from files."""

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core.columns import column_value, has_column, keys_beside
from mtl_tf.core.errors import DataError
from mtl_tf.datasets.sources import read_file, unpack
from mtl_tf.datasets.squad_files import is_squad, questions
from mtl_tf.tasks.reading.file_records import LINE, json_objects, unit_of
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.reading.row_files import (
    IGNORED,
    OddLines,
    check_files,
    records_of,
    rows_of,
)
from mtl_tf.tasks.reading.wrong_rows import naming_advice
from mtl_tf.tasks.sources.streamed_source import (
    LineTallies,
    StreamedSource,
    Tally,
    encoded,
)

#: The model's inputs, in reading order, and its output.
INPUTS, ANSWER = ("context", "question"), "answer"
#: What is scored against: all right answers, and what metrics need besides.
SCORED = ("answers", "scoring")
#: "scoring" of an example whose metrics need nothing besides.
NOTHING = "{}"
#: The text of a list of strings, as tables that hold lists are written to csv.
_LIST = re.compile(r"""\s*\[\s*['"].*['"]\s*\]\s*""", re.DOTALL)
_QUESTION = "question"


class _Example(NamedTuple):
    """One example of a file, with its place.

    `asks_otherwise` is whether the line has a question that is not read,
    because the entry has a question for all.
    """

    context: str
    question: str
    answers: list[str]
    scoring: str
    line: int
    place: str
    asks_otherwise: bool


class QuestionFileSource(StreamedSource):
    """Questions from JSON lines, tables, or files in the form of SQuAD.

    Args:
        files: the paths of each split's files.
        layouts: the layout of each split's files, with the columns `context`,
            `question` (unless all lines share one) and `answer`.
        question: the question of all lines; "" if each has its own.
    """

    labels = ()

    def __init__(
        self,
        files: Mapping[str, Sequence[str]],
        layouts: Mapping[str, Layout],
        question: str,
    ):
        super().__init__(files)
        self._layouts = dict(layouts)
        self._question = question

    def check(self, split: str) -> int:
        """Reads the split's files to the end, and counts their lines."""
        check_files(self._files[split], self._layouts[split])
        return sum(self._check(split, path) for path in self._files[split])

    def _check(self, split: str, path: str) -> int:
        lines = LineTallies()
        unread = _unread(path, self._layouts[split], self._question)
        unanswered, unasked, bare, listed = (Tally() for _ in range(4))
        count = 0
        for example in self._read(split, path, lines.odd):
            count += 1
            if not example.answers[0].strip():
                unanswered.add(example.line)
            if not example.question.strip():
                unasked.add(example.line)
            if not example.context.strip():
                bare.add(example.line)
            if _LIST.fullmatch(example.answers[0]):
                listed.add(example.line)
            if example.asks_otherwise:
                unread.add(example.line)
        unit = _unit(path, self._layouts[split])
        warnings = []
        for tally, fault in (
            *lines.oddities(),
            (unanswered, "without an answer"),
            (unasked, "without a question"),
            (bare, "without a context"),
            (
                listed,
                "whose answer is the text of a list, brackets and quotes "
                "included: several right answers are a JSON list in a .jsonl "
                "file",
            ),
            (
                unread,
                "with a question that is not read: `question` of the entry is "
                "that of all",
            ),
        ):
            if tally.count:
                noun = unit if tally.count == 1 else f"{unit}s"
                warnings.append(
                    f"{tally.count} {noun} {fault} (first: {unit} "
                    f"{tally.first})"
                )
        if not count:
            reasons = "".join(f" ({warning})" for warning in warnings)
            raise DataError(f"{path} is empty: it has no examples{reasons}")
        for warning in warnings:
            self.note(f"{path}: {warning}")
        return count

    def examples(self, split: str) -> Iterator[_Example]:
        """Yields the lines of the split's files."""
        for path in self._files[split]:
            yield from self._read(split, path)

    def place(self, split: str, number: int) -> str:
        """See `Source.place`; the line in the split's files."""
        return next(itertools.islice(self.examples(split), number, None)).place

    def signature(self, split: str) -> dict[str, tf.TypeSpec]:
        """The types of the texts and of all right answers."""
        names = (*INPUTS, "scoring", ANSWER)
        specs = dict.fromkeys(names, tf.TensorSpec([None], tf.string))
        return specs | {"answers": tf.RaggedTensorSpec([None, None], tf.string)}

    def batch(self, split: str, examples: Sequence[_Example]) -> dict[str, Any]:
        """Texts in UTF-8; the first answer is learnt."""
        answers = [list(map(encoded, example.answers)) for example in examples]
        columns = {
            name: np.array(
                [encoded(getattr(e, name)) for e in examples], object
            )
            for name in (*INPUTS, "scoring")
        }
        columns[ANSWER] = np.array([texts[0] for texts in answers], object)
        return columns | {"answers": tf.ragged.constant(answers, tf.string)}

    def _read(
        self,
        split: str,
        path: str,
        odd: OddLines = IGNORED,
    ) -> Iterator[_Example]:
        layout = self._layouts[split]
        for number, location, record in _records(path, layout, odd):
            yield self._example(location, number, record, layout)

    def _example(
        self, location: str, line: int, record: Mapping, layout: Layout
    ) -> _Example:
        texts = {"question": self._question}
        for name in layout.texts:
            column = layout.columns[name]
            texts[name] = self._value(location, record, column)
            if not isinstance(texts[name], str):
                raise DataError(
                    f"{location}: {column} must be a text, found "
                    f"{_short(texts[name])}"
                )
        # Tables have only the three texts.
        more = record if layout.format == "jsonl" else {}
        key = layout.columns[ANSWER]
        keys = [key] if has_column(record, key) else []
        keys += [SCORED[0]] if SCORED[0] in more else []
        # Programs write what is missing as null.
        given = [
            name for name in keys if column_value(record, name) is not None
        ]
        answers = [
            answer
            for name in dict.fromkeys(given or [key])
            for answer in self._answers(location, record, name)
        ]
        return _Example(
            **texts,
            # The first answer is learnt, so the order stays. Without any, the
            # question is unanswerable.
            answers=list(dict.fromkeys(answers)) or [""],
            scoring=_scoring(location, more.get("scoring")),
            line=line,
            place=location,
            asks_otherwise="question" not in layout.texts
            and more.get("question") not in (None, texts["question"]),
        )

    def _answers(
        self, location: str, record: Mapping[str, Any], key: str
    ) -> list[str]:
        """The right answers in a field, none if it has an empty list."""
        value = self._value(location, record, key)
        answers = answer_texts(value)
        if answers is None:
            raise DataError(
                f"{location}: {key} must be a text, a list of texts or "
                '{"text": [...]} as in SQuAD, found '
                f"{_short(value)}"
            )
        return answers

    def _value(self, location: str, record: Mapping[str, Any], key: str) -> Any:
        if not has_column(record, key):
            # Other names are those that the entry gives already.
            is_default = key in (*INPUTS, ANSWER)
            advice = naming_advice(key, key) if is_default else ""
            raise DataError(
                f"{location}: no {key!r}; {keys_beside(record, key)}{advice}"
            )
        return column_value(record, key)


def answer_texts(value: Any) -> list[str] | None:
    """The texts of answers, in any form that files may have.

    Args:
        value: a text, a list of texts, or one of the forms of SQuAD: an object
            with a list "text", or a list of objects with a "text".

    Returns:
        The texts, none of an empty list; None if it has another form.
    """
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):
        # The form of SQuAD datasets.
        value = value["text"]
    answers = [value] if isinstance(value, str) else value
    if not isinstance(answers, (list, tuple)):
        return None
    # The form of the questions in a SQuAD file.
    texts = [a.get("text") if isinstance(a, Mapping) else a for a in answers]
    return texts if all(isinstance(text, str) for text in texts) else None


def _records(
    path: str, layout: Layout, odd: OddLines
) -> Iterator[tuple[int, str, Mapping]]:
    """Number, place, and texts by column of every example of a file.

    The number counts lines, or the units of `_unit`.
    """
    if _unit(path, layout) == _QUESTION:
        content = unpack(path, read_file(path))
        for number, question in enumerate(questions(path, content), start=1):
            yield number, *question
        return
    if layout.format == "jsonl":
        for place, record in json_objects(path, odd.undecodable):
            yield place.number, str(place), record
        return
    for row in rows_of(path, layout, lambda cell, column: cell, odd):
        cells = (*row.texts, row.target)
        texts = dict(zip(layout.columns.values(), cells))
        yield row.place.number, str(row.place), texts


def _unread(path: str, layout: Layout, question: str) -> Tally:
    """Rows of a table with another question than the one for all, if any."""
    tally = Tally()
    if not question or layout.format == "jsonl" or not layout.header:
        return tally
    records = records_of(path, layout)
    _, header = next(records, (0, []))
    names = [name.strip() for name in header]
    if names.count(_QUESTION) != 1:
        return tally
    place = names.index(_QUESTION)
    if {place, _QUESTION} & {*layout.all_columns}:
        return tally
    for line, cells in records:
        if cells[place : place + 1] not in ([], [""], [question]):
            tally.add(line)
    return tally


def _unit(path: str, layout: Layout) -> str:
    """The units of a file: lines, elements, or questions as in SQuAD."""
    if layout.format != "jsonl":
        return LINE
    return _QUESTION if is_squad(path) else unit_of(path)


def _scoring(location: str, value: Any) -> str:
    """What metrics need for an example, from an object or its JSON text."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if not isinstance(value, Mapping):
        raise DataError(
            f"{location}: scoring must be an object, found {_short(value)}"
        )
    return json.dumps(value, sort_keys=True)


def _short(value: Any) -> str:
    return f"{json.dumps(value, ensure_ascii=False):.60}"
