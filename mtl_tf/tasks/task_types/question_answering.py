"""Question answering: a text answers a question about a context."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.building import QUESTIONS
from mtl_tf.datasets.sources import head_of
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, TARGET, TEXT, Feature
from mtl_tf.tasks.reading.layouts import FIELDS, columns_of, layouts_of
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.sources.question_dataset import QuestionDatasetSource
from mtl_tf.tasks.sources.question_source import (
    ANSWER,
    INPUTS,
    SCORED,
    QuestionFileSource,
)
from mtl_tf.tasks.task_type import Entry, Metric, TaskType

#: What to do with contexts longer than `text.max_length` tokens.
CUT, LEFT_OUT = "cut", "left_out"
_METRICS = (
    "nf1",
    "em",
    "nem",
    "bleu",
    "rouge",
    "cf1",
    "dsem",
    "request_em",
    "turn_em",
    "lfem",
    "execution",
)
# What may precede the first JSON object: a byte order mark and whitespace.
_BEFORE = b"\xef\xbb\xbf \r\n"
# An alias of jsonl.
_FORMAT = "qa_jsonl"
_COLUMNS = (*INPUTS, ANSWER)


class QuestionAnswering(TaskType):
    """A text that answers a question about a context.

    Any text task can be put this way (McCann et al. 2018, section 2). An entry
    with files of your own is

        {"name": "manuals", "type": "question_answering",
         "files": {"train": "a.jsonl", "validation": "b.jsonl",
                   "test": "c.jsonl"}}

    A split may be a list of files, which are read as one. Each line is a JSON
    object: {"question": ..., "context": ..., "answer": ...}. The answer is a
    text or a list of texts: all of them count as right, and the first one is
    learnt. An object "scoring" holds what some metrics need besides. `columns`
    gives other key names. If the entry has a `question`, it holds for all
    lines, which then have none. Without a validation file, a tenth of the
    training file is held out; all questions about a context stay together.

    In csv and tsv the three texts are columns; `format`, `delimiter`, `header`
    and `skip_malformed` are as in `TextTaskType`. A file with an unknown ending
    is JSON.

    An entry with a TFDS dataset has `dataset`, `splits` and `columns` for the
    texts `question`, `context` and `answer`.

    Fields of any entry:

    - `long_contexts`: "cut" ends contexts after `text.max_length` tokens.
      "left_out" leaves out training examples with longer contexts and reads all
      other contexts whole, as the paper does with SQuAD.
    - `bleu_tokenizer`, `language`: for the metric bleu; the language is that of
      the answers.
    """

    name = "question_answering"
    system = "answering"
    metrics = dict.fromkeys(_METRICS, Metric())
    file_fields = {**FIELDS, "question": ()}
    fields = ("long_contexts", "bleu_tokenizer", "language")
    most_held_out = 2000
    held_out_together = "context"

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """Three texts, each with its own time axis."""
        texts = [Feature(name, INPUT, TEXT, (name,)) for name in INPUTS]
        return (*texts, Feature(ANSWER, TARGET, TEXT, (ANSWER,)))

    def file_source(self, entry: Entry) -> QuestionFileSource:
        """The source of an entry with JSON files or tables; see the class."""
        paths = fields.paths(entry)
        question = fields.text(entry, "question")
        if question and "question" in (entry.get("columns") or {}):
            raise ConfigError(
                "question is the question of all lines: columns.question "
                "names none of theirs"
            )
        of_json = entry.get("format") == _FORMAT
        if not entry.get("format"):
            of_json = all(map(_is_json, itertools.chain(*paths.values())))
        if of_json:
            entry = {**entry, "format": "jsonl"}
        features = [n for n in _COLUMNS if n != "question" or not question]
        layouts = layouts_of(entry, paths, features, default="jsonl")
        return QuestionFileSource(paths, layouts, question)

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> QuestionDatasetSource:
        """The source of a TFDS dataset with three texts."""
        name = fields.dataset_name(entry)
        columns = columns_of(
            entry, _COLUMNS, fields.is_text, "the name of a text"
        )
        if name.partition("/")[0] in QUESTIONS:
            columns |= {column: column for column in SCORED}
        return QuestionDatasetSource(name, data_dir, manual_dir, columns)

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """`long_contexts`, and `bleu_tokenizer` and `language` for BLEU."""
        long = fields.text(entry, "long_contexts", CUT)
        checks.one_of("long_contexts", long, (CUT, LEFT_OUT))
        settings = {"long_contexts": long}
        for name in ("bleu_tokenizer", "language"):
            if value := fields.text(entry, name):
                settings[name] = value
        return settings

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Nothing, as there are no labels."""
        return {}

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Normalised F1 and exact match."""
        return ("nf1", "em")


def _is_json(path: str) -> bool:
    """Whether a file holds JSON objects, whatever its ending.

    JSON was once the only format.
    """
    return head_of(path).lstrip(_BEFORE).startswith(b"{")


TYPE = QuestionAnswering()
