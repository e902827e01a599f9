"""Tagging: a label of each token."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, LABELS, TARGET, WORDS, Feature
from mtl_tf.tasks.span_tags import BILOU
from mtl_tf.tasks.tagged_readers import (
    FORMATS,
    DatasetReader,
    FileReader,
    TagLayout,
)
from mtl_tf.tasks.tagged_source import AUTO, TaggedSource
from mtl_tf.tasks.tagged_source import WORDS as WORDS_ONLY
from mtl_tf.tasks.task_type import Entry, Metric, TaskType
from mtl_tf.text.span_schemes import SCHEMES

# Where tokens and tags stand, unless an entry says it.
_COLUMNS: Mapping[str, Mapping[str, int | str]] = {
    "conll": {"tokens": 0, "tags": -1},
    "conllu": {"tokens": "form", "tags": "upos"},
    "jsonl": {"tokens": "tokens", "tags": "tags"},
    "": {"tokens": "tokens", "tags": "tags"},  # a TFDS dataset
}
# The scheme that training takes, beside the data's own.
_TRAIN_SCHEMES = ("iob2", "iobes")
_OF_WORDS = ("token_accuracy",)


class Tagging(TaskType):
    """A label of each token of a sentence.

    An entry on one's own files is

        {"name": "chunks", "type": "tagging",
         "files": {"train": "a.conll", "validation": "b.conll",
                   "test": "c.conll"},
         "format": "conll", "columns": {"tokens": 0, "tags": -1},
         "separator": "", "comment": "", "scheme": "auto",
         "train_scheme": "iobes", "labels": ["O", "B-NP", "I-NP"]}

    of which `name`, `type` and `files` are needed. A list of files is read as
    if they were one. `format` is by default the
    ending of each file: "conll" (columns of any number, blank lines between
    sentences, `-DOCSTART-` lines skipped; the separator is any spaces and
    tabs, unless given), "conllu", or "jsonl" (two lists a line); all may be
    packed (.gz). Columns of conll are numbers, negative ones from the last; of
    conllu names such as "xpos". For `scheme`, `train_scheme` and `labels` see
    `mtl_tf.tasks.tagged_source.TaggedSource`.

    Or on a TFDS dataset with two sequence features, with `dataset` and
    `splits` in place of `files`, `format`, `separator` and `comment`.
    """

    name = "tagging"
    file_fields = {
        "columns": (),
        "format": (),
        "separator": ("conll",),
        "comment": ("conll",),
    }
    fields = ("labels", "scheme", "train_scheme")
    metrics = dict.fromkeys(
        ("span_f1", "token_accuracy", "span_f1_strict"), Metric()
    )

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """Tokens and their tags."""
        return (
            Feature("tokens", INPUT, WORDS, ("text",)),
            Feature("tags", TARGET, LABELS, ("text",)),
        )

    def file_source(self, entry: Entry) -> TaggedSource:
        """Sentences of columns; see the class."""
        settings = _settings(entry)
        paths = fields.paths(entry)
        layouts = {s: _layout(entry, s, files) for s, files in paths.items()}
        reader = FileReader(paths, layouts)
        return TaggedSource(reader, label_splits=tuple(paths), **settings)

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> TaggedSource:
        """A TFDS dataset with two sequence features."""
        settings, columns = _settings(entry), _columns(entry, "")
        splits_of_entry = fields.given_splits(entry)
        name = fields.dataset_name(entry)
        reader = DatasetReader(name, data_dir, manual_dir, **columns)
        splits = fields.known_splits(splits_of_entry, reader).values()
        return TaggedSource(reader, label_splits=tuple(splits), **settings)

    def settings(self, entry: Entry, source: TaggedSource) -> dict[str, Any]:
        """`scheme`: how the labels write spans; "" for tags of words."""
        return {"scheme": source.scheme}

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The tags, and how they write spans."""
        fixed = super().fixed_fields(labels, settings)
        if settings.get("scheme"):
            fixed["train_scheme"] = settings["scheme"]
        return fixed

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """F1 of spans and accuracy of tokens, or that alone."""
        if settings.get("scheme"):
            return ("span_f1", "token_accuracy")
        return _OF_WORDS

    def check_metrics(
        self, names: Iterable[str], settings: Mapping[str, Any]
    ) -> None:
        """Also refuses F1 of spans where tags are of words."""
        super().check_metrics(names, settings)
        for name in names:
            if name not in _OF_WORDS and not settings["scheme"]:
                raise ConfigError(
                    f"metrics has {name!r}, but the tags are of words, not of "
                    f"spans: they have {', '.join(_OF_WORDS)}"
                )


def _settings(entry: Entry) -> dict[str, Any]:
    """How an entry says that tags are read."""
    settings = {
        "scheme": checks.one_of(
            "scheme",
            entry.get("scheme") or AUTO,
            (AUTO, WORDS_ONLY, *SCHEMES, BILOU),
        ),
        "train_scheme": entry.get("train_scheme") or "",
        "labels": fields.strings(entry, "labels", 2),
    }
    if settings["train_scheme"]:
        checks.one_of("train_scheme", settings["train_scheme"], _TRAIN_SCHEMES)
    return settings


def _layout(
    entry: Mapping[str, Any], split: str, paths: Sequence[str]
) -> TagLayout:
    return layout_of(entry, fields.file_format(entry, split, paths, FORMATS))


def layout_of(entry: Mapping[str, Any], form: str) -> TagLayout:
    """How an entry says that files of a format are laid out.

    Raises:
        ConfigError: a field is wrong, or none of that format's.
    """
    separator = fields.text(entry, "separator")
    comment = fields.text(entry, "comment")
    if form != "conll" and (separator or comment):
        raise ConfigError(f"{form} takes neither separator nor comment")
    columns = _columns(entry, form)
    return TagLayout(form, **columns, separator=separator, comment=comment)


def _columns(entry: Mapping[str, Any], form: str) -> dict[str, int | str]:
    def is_right(value: Any) -> bool:
        number = isinstance(value, int) and not isinstance(value, bool)
        if form == "conll":
            return number
        if form == "conllu":
            return value in CONLLU_COLUMNS
        return fields.is_text(value)

    rules = {
        "conll": "a column's number, from 0 or negative from the last",
        "conllu": f"one of {', '.join(CONLLU_COLUMNS)}",
    }
    rule = rules.get(form, "a name")
    known = ("tokens", "tags")
    renamed = fields.mapping(entry, "columns", is_right, rule, known)
    columns = {**_COLUMNS[form], **renamed}
    if columns["tokens"] == columns["tags"]:
        raise ConfigError(
            f"columns.tokens and columns.tags are both {columns['tags']!r}"
        )
    return columns


TYPE = Tagging()
