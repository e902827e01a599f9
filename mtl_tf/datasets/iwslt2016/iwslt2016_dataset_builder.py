"""IWSLT 2016 from its official files, as question answering."""

import os
import pathlib
import re

import tensorflow_datasets as tfds

from mtl_tf.core.errors import MissingData
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.iwslt2016 import CONFIGS, talks
from mtl_tf.datasets.parallel import packed_or_not
from mtl_tf.datasets.question_builders import (
    QuestionAnswerBuilder,
    Reading,
    absent,
)
from mtl_tf.datasets.sources import identify
from mtl_tf.datasets.translation_questions import cast

_NAMES = ("iwslt2016", "iwslt", "iwslt16", "2016-01")
# The validation and test sets of McCann et al. (2018).
_SPLITS = {"tst2013": "validation", "tst2014": "test"}
# The numbers of pairs in the release from English to German.
_COUNTS = {"train": 196_884, "validation": 993, "test": 1305}


class Builder(QuestionAnswerBuilder):
    """Builds IWSLT 2016: train, validation, test and all other sets."""

    FOLDERS = _NAMES
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the folder en-de/ of the official archive, which holds
    train.tags.en-de.en, train.tags.en-de.de and IWSLT16.TED.*.xml, into
    manual_dir/iwslt2016/ or into manual_dir itself. See the README beside this
    builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the files of all splits, by file name.

        Raises:
            DataError: there is no such folder (`MissingData`: no pair of files
                in it).
        """
        pairs = _find(config, manual_dir).values()
        return {os.path.basename(p): p for paths in pairs for p in paths}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The pairs of each split.

        Raises:
            DataError: a file differs from the released form.
        """
        splits, sources = {}, {}
        found = _find(config, manual_dir)
        warnings = absent(_files(config), found)
        for split, paths in found.items():
            is_train = split == "train"
            read = talks.read_tagged if is_train else talks.read_xml
            talk_pairs = read(*paths)
            for path, content in zip(paths, talk_pairs.contents):
                sources[os.path.basename(path)] = identify(content)
            splits[split] = cast(talk_pairs.pairs, config, split)
            warnings += talk_pairs.warnings
            expected = _COUNTS.get(split, 0) if config == "en-de" else 0
            if expected and len(talk_pairs.pairs) != expected:
                warnings.append(
                    f"{split}: {len(talk_pairs.pairs):,} pairs; the released "
                    f"files have {expected:,}"
                )
        return Reading(splits, sources, warnings)


def _files(config: str) -> dict[str, list[str]]:
    """A file of each split of McCann et al."""
    source = config.partition("-")[0]
    tests = {
        split: [f"IWSLT16.TED.{name}.{config}.{source}.xml"]
        for name, split in _SPLITS.items()
    }
    return {"train": [f"train.tags.{config}.{source}"], **tests}


def _find(config: str, manual_dir: str) -> dict[str, tuple[str, str]]:
    """The paths of source and target of each available split."""
    holds = [[f"train.tags.{config}.*"], [f"IWSLT16.TED*.{config}.*.xml"]]
    names = (*_NAMES, config)
    directory = corpus_directory(manual_dir, names, holds)
    pattern = re.compile(
        rf"(IWSLT16\.(?:TED|TEDX)\.(\w+))\.{config}\.[a-z]+\.xml(?:\.gz)?"
    )
    prefixes = {"train": f"train.tags.{config}"}
    for name in sorted(path.name for path in pathlib.Path(directory).iterdir()):
        if match := pattern.fullmatch(name):
            split = _SPLITS.get(match[2], match[2])
            if ".TEDX." in name:
                split = f"tedx_{match[2]}"
            prefixes[split] = f"{match[1]}.{config}"
    paths_of = {}
    for split, prefix in prefixes.items():
        end = "" if split == "train" else ".xml"
        paths = [
            packed_or_not(os.path.join(directory, f"{prefix}.{language}{end}"))
            for language in config.split("-")
        ]
        exist = [pathlib.Path(path).is_file() for path in paths]
        # Some sets are published without translations and cannot be built.
        if all(exist) or any(exist) and split in _COUNTS:
            paths_of[split] = tuple(paths)
    if not paths_of:
        raise MissingData(
            f"iwslt2016/{config}: {directory} has neither "
            f"{prefixes['train']}.* nor IWSLT16.TED.*.{config}.*.xml: the "
            "folder given by --manual_dir (or MTL_TF_MANUAL_DIR) must hold the "
            "official files"
        )
    order = ["train", "validation", "test"]
    first = [split for split in order if split in paths_of]
    return {
        s: paths_of[s] for s in (*first, *sorted(paths_of.keys() - set(first)))
    }
