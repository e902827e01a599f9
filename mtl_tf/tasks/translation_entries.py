"""From a config entry of kind "translation" to its source."""

import os
from collections.abc import Mapping
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets.building import OWN
from mtl_tf.tasks import fields
from mtl_tf.tasks.parallel_source import (
    ParallelDatasetSource,
    ParallelFileSource,
)
from mtl_tf.text.translation import languages_of

_SIDES = ("source", "target")

ParallelSource = ParallelFileSource | ParallelDatasetSource


def source_of(
    entry: Mapping[str, Any], data_dir: str = "", manual_dir: str = ""
) -> tuple[ParallelSource, dict[str, str]]:
    """Makes the source of a translation entry.

    Args:
        entry: on one's own line-aligned files

            {"name": "en-de", "kind": "translation",
             "files": {"train": {"source": "a.en", "target": "a.de"},
                       "validation": {"source": "b.en", "target": "b.de"},
                       "test": {"source": "c.en", "target": "c.de"}},
             "bleu_tokenizer": "13a"}

            of which `name`, `kind` and `files` are needed. The name is that
            of the pair, source-target. All files may be packed (.gz).

            Or on a TFDS dataset with two texts, with `dataset`, `splits` and
            `columns` in place of `files`. Columns are by default the features
            `source` and `target` of our own corpora, and those that are named
            like the languages of other datasets.
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.

    Returns:
        The source, and its split for each of the task's.

    Raises:
        ConfigError: a field is missing or wrong.
        DataError: the data are missing or wrong.
    """
    languages = languages_of(entry["name"])
    _check_tokenizer(entry, languages[1])
    if "files" in entry:
        source = ParallelFileSource(_paths(entry))
        return source, {split: split for split in source.split_names}
    name = fields.dataset_name(entry)
    own = name.partition("/")[0] in OWN
    columns = dict(zip(_SIDES, _SIDES if own else languages))
    columns |= fields.mapping(
        entry, "columns", fields.is_text, "the name of a feature", _SIDES
    )
    if columns["source"] == columns["target"]:
        raise ConfigError(
            f"columns.source and columns.target are both {columns['source']!r}"
        )
    source = ParallelDatasetSource(name, data_dir, manual_dir, **columns)
    splits = fields.given_splits(entry)
    return source, fields.known_splits(splits, source)


def _check_tokenizer(entry: Mapping[str, Any], language: str) -> None:
    """Says now, not after hours of training, that BLEU cannot be computed."""
    tokenizer = fields.text(entry, "bleu_tokenizer")
    metrics = fields.strings(entry, "metrics", 1)
    from sacrebleu.metrics import BLEU

    if tokenizer:
        checks.one_of("bleu_tokenizer", tokenizer, sorted(BLEU.TOKENIZERS))
    if metrics and not any(name.startswith("bleu") for name in metrics):
        return
    try:
        # Some need packages, and some files that they download.
        BLEU(tokenize=tokenizer or None, trg_lang=language, force=True)
    except (ImportError, RuntimeError, OSError) as error:
        raise ConfigError(
            f"sacrebleu cannot split texts in {language!r} for BLEU with "
            f"bleu_tokenizer {tokenizer!r}: {' '.join(str(error).split())} Or "
            "take another bleu_tokenizer, such as 'char', or the metric 'chrf' "
            "alone"
        )


def _paths(entry: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    rule = 'two paths such as {"source": "a.en", "target": "a.de"}'
    files = fields.mapping(entry, "files", _is_pair, rule)
    if not files:
        raise ConfigError("files must name files for train, test or both")
    paths = {
        split: tuple(os.path.expanduser(pair[side]) for side in _SIDES)
        for split, pair in files.items()
    }
    for split, pair in paths.items():
        for side, path in zip(_SIDES, pair):
            if not os.path.isfile(path):
                raise DataError(
                    f"task {entry['name']}: files.{split}.{side}: {path} is no "
                    "file"
                )
    return paths


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set(_SIDES)
        and all(map(fields.is_text, value.values()))
    )
