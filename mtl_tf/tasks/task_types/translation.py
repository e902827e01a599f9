"""Translation: a text in another language."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets.building import OWN
from mtl_tf.datasets.parallel_lines import AlignedFiles
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, TARGET, TEXT, Feature
from mtl_tf.tasks.reading.layouts import FIELDS, layouts_of
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.sources.parallel_source import (
    Pairs,
    PairTables,
    ParallelDatasetSource,
    ParallelFileSource,
)
from mtl_tf.tasks.task_type import Entry, Metric, TaskType
from mtl_tf.text.encoding.translation import languages_of, without_region

_SIDES = ("source", "target")


class Translation(TaskType):
    """A text in another language.

    An entry with line-aligned files of your own is

        {"name": "en-de", "type": "translation",
         "files": {"train": {"source": "a.en", "target": "a.de"},
                   "validation": {"source": "b.en", "target": "b.de"},
                   "test": {"source": "c.en", "target": "c.de"}},
         "bleu_tokenizer": "13a"}

    Only `name`, `type` and `files` are required. The name is the language pair,
    source-target. All files may be compressed (.gz). A split may also be a
    table, "train": "a.csv", or a list of tables, with a column for each
    language, by default `source` and `target`; `columns`, `format`,
    `delimiter`, `header` and `skip_malformed` are as in `TextTaskType`.

    An entry with a TFDS dataset of two texts has `dataset`, `splits` and
    `columns` in place of `files`. The default columns are the features `source`
    and `target` in this project's corpora, and in other datasets the features
    named like the languages.
    """

    name = "translation"
    system = "multi_target"
    file_fields = FIELDS
    fields = ("bleu_tokenizer",)
    metrics = dict.fromkeys(("bleu", "bleu_lc", "chrf"), Metric())
    # A tenth of millions of pairs would be too many.
    most_held_out = 2000

    def held_out_by(self, name: str) -> str:
        """The source language.

        Pairs that share a source file hold out the same lines of it. They also
        share an encoder, which thus never reads the source of a held-out line.
        """
        return languages_of(name)[0]

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """Source and target, each with its own time axis."""
        return (
            Feature("source", INPUT, TEXT, ("source",)),
            Feature("target", TARGET, TEXT, ("target",)),
        )

    def file_source(self, entry: Entry) -> ParallelFileSource:
        """The source of an entry with line-aligned files or tables."""
        _check_tokenizer(entry, languages_of(entry["name"])[1])
        return ParallelFileSource(_pairs(entry))

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> ParallelDatasetSource:
        """The source of a TFDS dataset with two texts."""
        languages = languages_of(entry["name"])
        _check_tokenizer(entry, languages[1])
        name = fields.dataset_name(entry)
        is_prepared_corpus = name.partition("/")[0] in OWN
        columns = dict(zip(_SIDES, _SIDES if is_prepared_corpus else languages))
        columns |= fields.mapping(
            entry, "columns", fields.is_text, "the name of a feature", _SIDES
        )
        if columns["source"] == columns["target"]:
            raise ConfigError(
                "columns.source and columns.target are both "
                f"{columns['source']!r}"
            )
        return ParallelDatasetSource(name, data_dir, manual_dir, **columns)

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """`bleu_tokenizer`: how sacrebleu splits texts for BLEU.

        "none" for texts with tokens between spaces, "13a", "intl" and so on; ""
        for sacrebleu's default for the target language.
        """
        return {"bleu_tokenizer": fields.text(entry, "bleu_tokenizer")}

    def check(self, name: str, settings: Mapping[str, Any]) -> None:
        """Refuses a name that is no language pair."""
        languages_of(name)

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Nothing, as there are no labels."""
        return {}

    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """BLEU, BLEU of lower-cased texts, and chrF."""
        return ("bleu", "bleu_lc", "chrf")


def _check_tokenizer(entry: Mapping[str, Any], language: str) -> None:
    """Refuses, before hours of training, a BLEU that cannot be computed."""
    tokenizer = fields.text(entry, "bleu_tokenizer")
    metrics = fields.strings(entry, "metrics", 1)
    from sacrebleu.metrics import BLEU

    if tokenizer:
        checks.one_of("bleu_tokenizer", tokenizer, sorted(BLEU.TOKENIZERS))
    if metrics and not any(name.startswith("bleu") for name in metrics):
        return
    try:
        # Some tokenizers need extra packages, or files that they download.
        BLEU(
            tokenize=tokenizer or None,
            trg_lang=without_region(language),
            force=True,
        )
    except (ImportError, RuntimeError, OSError) as error:
        raise ConfigError(
            f"sacrebleu cannot split texts in {language!r} for BLEU with "
            f"bleu_tokenizer {tokenizer!r}: {' '.join(str(error).split())} Or "
            "take another bleu_tokenizer, such as 'char', or the metric 'chrf' "
            "alone"
        )


def _pairs(entry: Entry) -> dict[str, Pairs]:
    rule = (
        'two paths such as {"source": "a.en", "target": "a.de"}, or the path '
        "of a table of both or a list of such tables"
    )
    files = fields.mapping(
        entry,
        "files",
        lambda value: _is_of_tables(value) or _is_pair(value),
        rule,
    )
    if not files:
        raise ConfigError("files must name files for train, test or both")
    tables = {s: file for s, file in files.items() if _is_of_tables(file)}
    table_fields = [field for field in FIELDS if entry.get(field) is not None]
    if table_fields and not tables:
        raise ConfigError(
            f"{table_fields[0]} is of tables, and all files are pairs of files"
        )
    paths = fields.paths({**entry, "files": tables}) if tables else {}
    layouts = layouts_of(entry, paths, _SIDES)
    return {
        split: PairTables(paths[split], layouts[split])
        if split in paths
        else AlignedFiles(*_paths(entry, split, file))
        for split, file in files.items()
    }


def _paths(entry: Entry, split: str, pair: Mapping[str, str]) -> list[str]:
    """The two paths of line-aligned files."""
    paths = [os.path.expanduser(pair[side]) for side in _SIDES]
    for side, path in zip(_SIDES, paths):
        if not os.path.isfile(path):
            raise DataError(
                f"task {entry['name']}: files.{split}.{side}: {path} is no file"
            )
    return paths


def _is_of_tables(value: Any) -> bool:
    return fields.is_text(value) or isinstance(value, (list, tuple))


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set(_SIDES)
        and all(map(fields.is_text, value.values()))
    )


TYPE = Translation()
