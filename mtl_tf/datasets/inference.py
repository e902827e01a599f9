"""The base class of the builders of natural language inference.

The question is that of McCann et al. (2018), Fig. 1 and code: the hypothesis
and the three answers. The context is the premise.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.json_values import JsonValue, read_json, read_json_lines
from mtl_tf.datasets.lines import LineFile, Oddities, count, short
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import (
    QuestionAnswerBuilder,
    Reading,
    absent,
    check_marks,
    present_files,
)
from mtl_tf.datasets.sources import identify

LABELS = ("entailment", "neutral", "contradiction")
# The label of pairs on which annotators did not agree.
NO_LABEL = "-"
_MARKS = (b"sentence1", b"gold_label", b"instances")
_LAST = ["label1", "gold_label"]
_COLUMNS = ("pairID", "sentence1", "sentence2", "gold_label")


class Pair(NamedTuple):
    """Two sentences: name, premise, hypothesis, label, and location."""

    id: str
    premise: str
    hypothesis: str
    label: str
    location: str


class InferenceBuilder(QuestionAnswerBuilder, skip_registration=True):
    """Builds pairs of sentences from any layout of their releases.

    Attributes:
        NAMES: possible file names of each split. If several exist, the largest
            file is taken.
        COUNTS: the labelled pairs in the released files.
    """

    NAMES: Mapping[str, Sequence[str]]
    COUNTS: Mapping[str, int]

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The path of the file of each split that has one, by file name.

        Raises:
            DataError: there is no such folder (`MissingData`: no file in it).
        """
        paths = (path for path, _ in cls._find(manual_dir).values())
        return {os.path.basename(path): path for path in paths}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The labelled pairs of each split.

        Raises:
            DataError: a file differs from the released form.
        """
        splits, sources = {}, {}
        found = self._find(manual_dir)
        warnings = absent(self.NAMES, found)
        for split, (path, left_out) in found.items():
            file = LineFile(path)
            if left_out:
                file.warn(f"taken for {split}, and not {', '.join(left_out)}")
            splits[split] = _cast(file, self.COUNTS[split])
            sources[file.name] = identify(file.content)
            warnings += file.warnings
        return Reading(splits, sources, warnings)

    @classmethod
    def _find(cls, manual_dir: str) -> dict[str, tuple[str, list[str]]]:
        """The file of each split, and the names of files not taken."""
        holds = list(cls.NAMES.values())
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        present = present_files(cls.FOLDERS[0], directory, cls.NAMES)
        check_marks(cls.FOLDERS[0], _MARKS, present)
        best_of = {}
        for split, paths in present.items():
            # `max` returns the first of equal ones.
            best = max(paths, key=os.path.getsize)
            # An archive may have the same pairs in several forms.
            smaller = [
                os.path.basename(path)
                for path in paths
                if _stem(path) != _stem(best)
            ]
            best_of[split] = best, smaller
        return best_of


def _stem(path: str) -> str:
    return os.path.splitext(path.removesuffix(".gz"))[0]


def _cast(file: LineFile, expected: int) -> list[QuestionAnswer]:
    rows: list[QuestionAnswer] = []
    odd = Oddities(file, "")
    for pair in _layout(file)(file):
        if pair.label == NO_LABEL:
            odd.add(
                "pair", "without a gold label (-) skipped", _place(file, pair)
            )
            continue
        if pair.label not in LABELS:
            raise DataError(
                f"{pair.location}: gold_label is {short(pair.label)}; it must "
                f"be {', '.join(LABELS)}, or - where annotators disagree"
            )
        premise, hypothesis = pair.premise.strip(), pair.hypothesis.strip()
        if not premise or not hypothesis:
            odd.add("pair", "with an empty sentence, kept", _place(file, pair))
        rows.append(
            QuestionAnswer(
                f'Hypothesis: "{hypothesis}" -- entailment, neutral, or '
                "contradiction?",
                f'Premise: "{premise}"',
                (pair.label,),
                pair.id,
            )
        )
    if not rows:
        raise DataError(f"{file.path}: there are no pairs with a gold label")
    odd.report()
    if len(rows) != expected:
        file.warn(
            f"{count(len(rows), 'pair')} with a label; the released file has "
            f"{expected:,}"
        )
    return rows


def _place(file: LineFile, pair: Pair) -> str:
    place = pair.location.removeprefix(file.path).strip(": ")
    return f"line {place}" if place.isdecimal() else place


def _layout(file: LineFile) -> Callable[[LineFile], Iterator[Pair]]:
    name = file.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        return _json_lines
    return _one_json if name.endswith(".json") else _columns


def _json_lines(file: LineFile) -> Iterator[Pair]:
    for number, line in read_json_lines(file):
        texts = [line.get(name, str).value for name in _COLUMNS]
        yield _pair(texts, f"{file.path}:{number}")


def _columns(file: LineFile) -> Iterator[Pair]:
    """The columns of the authors' txt files and of GLUE's tsv files.

    Quotes have no special meaning there. In GLUE's train.tsv of SNLI, some rows
    have the labels of five annotators where the header has label1, so the gold
    label is their last field.
    """
    header = file.lines[0].split("\t")
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise DataError(
            f"{file.path}:1: no column {', '.join(missing)} in the header "
            f"{short(file.lines[0], 80)}; a file without gold_label is a test "
            "set whose answers are kept back, and cannot be built"
        )
    places = [header.index(name) for name in _COLUMNS]
    for number, line in enumerate(file.lines[1:], 2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) > len(header) and _ends_in_labels(header, cells):
            cells = [*cells[: len(header) - 1], cells[-1]]
        if not max(places) < len(cells) <= len(header):
            raise DataError(
                f"{file.path}:{number}: {count(len(cells), 'field')}; the "
                f"header has {len(header)}: {short(line)}"
            )
        yield _pair([cells[i] for i in places], f"{file.path}:{number}")


def _ends_in_labels(header: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether all fields from label1 on are labels: no sentence has a tab."""
    labels = (*LABELS, NO_LABEL, "")
    return header[-2:] == _LAST and all(
        cell.strip() in labels for cell in cells[len(header) - 2 :]
    )


def _one_json(file: LineFile) -> Iterator[Pair]:
    """Pairs in a reading comprehension form; the support is the premise."""
    root = read_json(file.path, file.content)
    for instance in root.get("instances", list).items(dict):
        support = _only(instance.get("support", list))
        for question in instance.get("questions", list).items(dict):
            answer = _only(question.get("answers", list))
            texts = [
                instance.get("id", str).value,
                support.get("text", str).value,
                question.get("question", str).value,
                answer.get("text", str).value,
            ]
            yield _pair(texts, question.location)


def _only(values: JsonValue) -> JsonValue:
    if len(values.value) != 1:
        raise values.wrong("a list of one")
    return next(values.items(dict))


def _pair(texts: Sequence[str], location: str) -> Pair:
    return Pair(*texts[:3], texts[3].strip(), location)
