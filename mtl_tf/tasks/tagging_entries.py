"""From a config entry of kind "tagging" to its source."""

from collections.abc import Mapping
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.tasks import fields
from mtl_tf.tasks.span_tags import BILOU
from mtl_tf.tasks.tagged_readers import (
    FORMATS,
    DatasetReader,
    FileReader,
    TagLayout,
)
from mtl_tf.tasks.tagged_source import AUTO, WORDS, TaggedSource
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


def source_of(
    entry: Mapping[str, Any], data_dir: str = "", manual_dir: str = ""
) -> tuple[TaggedSource, dict[str, str]]:
    """Makes the source of a tagging entry.

    Args:
        entry: on one's own files

            {"name": "chunks", "kind": "tagging",
             "files": {"train": "a.conll", "validation": "b.conll",
                       "test": "c.conll"},
             "format": "conll", "columns": {"tokens": 0, "tags": -1},
             "separator": "", "comment": "", "scheme": "auto",
             "train_scheme": "iobes", "labels": ["O", "B-NP", "I-NP"]}

            of which `name`, `kind` and `files` are needed. `format` is by
            default the ending of each file: "conll" (columns of any number,
            blank lines between sentences, `-DOCSTART-` lines skipped; the
            separator is any spaces and tabs, unless given), "conllu", or
            "jsonl" (two lists a line); all may be packed (.gz). Columns of
            conll are numbers, negative ones from the last; of conllu names
            such as "xpos". For `scheme`, `train_scheme` and `labels` see
            `mtl_tf.tasks.tagged_source.TaggedSource`.

            Or on a TFDS dataset with two sequence features, with `dataset`
            and `splits` in place of `files`, `format`, `separator` and
            `comment`.
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.

    Returns:
        The source, and its split for each of the task's.

    Raises:
        ConfigError: a field is missing or wrong.
        DataError: the data are missing or wrong.
    """
    settings = {
        "scheme": checks.one_of(
            "scheme",
            entry.get("scheme") or AUTO,
            (AUTO, WORDS, *SCHEMES, BILOU),
        ),
        "train_scheme": entry.get("train_scheme") or "",
        "labels": fields.strings(entry, "labels", 2),
    }
    if settings["train_scheme"]:
        checks.one_of("train_scheme", settings["train_scheme"], _TRAIN_SCHEMES)
    if "files" in entry:
        paths = fields.paths(entry)
        layouts = {s: _layout(entry, s, path) for s, path in paths.items()}
        reader = FileReader(paths, layouts)
        splits = {split: split for split in paths}
    else:
        given = fields.given_splits(entry)
        columns = _columns(entry, "")
        name = fields.dataset_name(entry)
        reader = DatasetReader(name, data_dir, manual_dir, **columns)
        splits = fields.known_splits(given, reader)
    source = TaggedSource(
        reader, label_splits=tuple(splits.values()), **settings
    )
    return source, splits


def _layout(entry: Mapping[str, Any], split: str, path: str) -> TagLayout:
    form = entry.get("format") or fields.format_of(path, FORMATS)
    if not form:
        raise ConfigError(
            f"files.{split}: cannot tell the format of {path} by its ending: "
            f"set format to {', '.join(FORMATS)}"
        )
    checks.one_of("format", form, FORMATS)
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
    given = fields.mapping(entry, "columns", is_right, rule, known)
    columns = {**_COLUMNS[form], **given}
    if columns["tokens"] == columns["tags"]:
        raise ConfigError(
            f"columns.tokens and columns.tags are both {columns['tags']!r}"
        )
    return columns
