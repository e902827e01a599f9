"""Tagging: a label for each token."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, LABELS, TARGET, WORDS, Feature
from mtl_tf.tasks.reading.span_tags import BILOU
from mtl_tf.tasks.reading.tagged_readers import (
    FORMATS,
    DatasetReader,
    FileReader,
    TagLayout,
)
from mtl_tf.tasks.sources.tagged_source import AUTO, TaggedSource
from mtl_tf.tasks.sources.tagged_source import WORDS as WORDS_ONLY
from mtl_tf.tasks.task_type import Entry, Metric, TaskType
from mtl_tf.text.span_schemes import SCHEMES

# The default columns of tokens and tags, by format.
_COLUMNS: Mapping[str, Mapping[str, int | str]] = {
    "conll": {"tokens": 0, "tags": -1},
    "conllu": {"tokens": "form", "tags": "upos"},
    "jsonl": {"tokens": "tokens", "tags": "tags"},
    "": {"tokens": "tokens", "tags": "tags"},  # a TFDS dataset
}
# The schemes that training may use instead of the data's own.
_TRAIN_SCHEMES = ("iob2", "iobes")
_OF_WORDS = ("token_accuracy",)


class Tagging(TaskType):
    """A label for each token of a sentence.

    An entry with files of your own is

        {"name": "chunks", "type": "tagging",
         "files": {"train": "a.conll", "validation": "b.conll",
                   "test": "c.conll"},
         "format": "conll", "columns": {"tokens": 0, "tags": -1},
         "separator": "", "comment": "", "scheme": "auto",
         "train_scheme": "iobes", "labels": ["O", "B-NP", "I-NP"]}

    Only `name`, `type` and `files` are required. A list of files is read as one
    file. All files may be compressed (.gz). The default `format` is each file's
    ending:

    - "conll": any number of columns, blank lines between sentences; lines of
      `-DOCSTART-` are skipped. Columns are numbers; negative ones count from
      the last. If none does, each sentence may have its own number of columns.
      The default separator is any spaces and tabs. If all tags of a file are
      spans in brackets, such as `(GPE)`, they are read as IOB2.
    - "conllu": columns are names such as "xpos".
    - "jsonl": two lists a line.

    For `scheme`, `train_scheme` and `labels` see
    `mtl_tf.tasks.sources.tagged_source.TaggedSource`.

    An entry with a TFDS dataset of two sequence features has `dataset` and
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
        """The source of an entry with files; see the class."""
        settings = _settings(entry)
        paths = fields.paths(entry)
        layouts = {s: _layout(entry, s, files) for s, files in paths.items()}
        reader = FileReader(paths, layouts)
        return TaggedSource(reader, label_splits=tuple(paths), **settings)

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> TaggedSource:
        """The source of a TFDS dataset with two sequence features."""
        settings, columns = _settings(entry), _columns(entry, "")
        splits_of_entry = fields.given_splits(entry)
        name = fields.dataset_name(entry)
        reader = DatasetReader(name, data_dir, manual_dir, **columns)
        splits = fields.known_splits(splits_of_entry, reader).values()
        return TaggedSource(reader, label_splits=tuple(splits), **settings)

    def settings(self, entry: Entry, source: TaggedSource) -> dict[str, Any]:
        """`scheme`: how the tags write spans; "" for tags of single words."""
        return {"scheme": source.scheme}

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The tags and their scheme."""
        fixed = super().fixed_fields(labels, settings)
        if settings.get("scheme"):
            fixed["train_scheme"] = settings["scheme"]
        return fixed

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Span F1 and token accuracy; only the latter for tags of words."""
        if settings.get("scheme"):
            return ("span_f1", "token_accuracy")
        return _OF_WORDS

    def check_metrics(
        self, names: Iterable[str], settings: Mapping[str, Any]
    ) -> None:
        """Also refuses span F1 for tags of words."""
        super().check_metrics(names, settings)
        for name in names:
            if name not in _OF_WORDS and not settings["scheme"]:
                raise ConfigError(
                    f"metrics has {name!r}, but the tags are of words, not of "
                    f"spans: they have {', '.join(_OF_WORDS)}"
                )


def _settings(entry: Entry) -> dict[str, Any]:
    """The entry's settings of how tags are read."""
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
    """The layout of an entry's files of one format.

    Raises:
        ConfigError: a field is wrong, or the format does not have it.
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
