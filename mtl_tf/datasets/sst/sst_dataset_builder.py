"""SST: sentences and phrases in five or two classes, from either release."""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.csv_records import csv_records
from mtl_tf.datasets.lines import LabelledText, LineFile, short
from mtl_tf.datasets.sources import Fingerprint, identify
from mtl_tf.datasets.sst import CONFIGS
from mtl_tf.datasets.sst.trees import read_trees
from mtl_tf.datasets.text_class_builder import POLARITIES, TextClassBuilder

FIVE = ("very negative", "negative", "neutral", "positive", "very positive")
_NEUTRAL = 2

# The numbers of sentences in the released files, and without neutral ones.
_SENTENCES = {"train": 8544, "validation": 1101, "test": 2210}
_BINARY = {"train": 6920, "validation": 872, "test": 1821}
_TREES = ("train.txt", "dev.txt", "test.txt")
_CSV = tuple(f"{part}_fine_sent.csv" for part in ("train", "dev", "test"))
# The files that decaNLP's code downloads.
_BINARY_CSV = tuple(
    f"{part}_binary_sent.csv" for part in ("train", "dev", "test")
)
_HEADER = ["label", "sentence"]


class Builder(TextClassBuilder):
    """Builds SST in one of its forms: train, validation and test."""

    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    FOLDERS = ("sst", "trainDevTestTrees_PTB", "trees")
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put either the trees of SST (train.txt, dev.txt and test.txt of
    trainDevTestTrees_PTB.zip) or the csv files train_fine_sent.csv,
    dev_fine_sent.csv and test_fine_sent.csv (two classes: also
    train_binary_sent.csv, dev_binary_sent.csv and test_binary_sent.csv) into
    manual_dir/sst/ or into manual_dir itself. See the README beside this
    builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the files of the most complete release, by name.

        Of equal ones the trees are taken, as their texts are tokenized. Phrases
        need them.

        Raises:
            DataError: there is no such folder (`MissingData`: no release in
                it).
        """
        releases = [_TREES]
        if not _has_phrases(config):
            releases.append(_CSV)
            if _is_binary(config):
                releases.append(_BINARY_CSV)
        paths_of = [cls._paths(manual_dir, names) for names in releases]

        def present(paths: Mapping[str, str]) -> int:
            return sum(pathlib.Path(x).is_file() for x in paths.values())

        best = max(paths_of, key=present)  # the first of equal ones
        if not present(best):
            own = corpus_directory(manual_dir, cls.FOLDERS)
            names = " nor ".join(map(", ".join, releases))
            raise MissingData(
                f"sst/{config}: {own} has not {names}: the folder given by "
                "--manual_dir (or MTL_TF_MANUAL_DIR) must hold the corpus's "
                "official files under their official names (the trees of "
                "trainDevTestTrees_PTB.zip, which phrases need, or csv files)"
            )
        return best

    @classmethod
    def _paths(cls, manual_dir: str, names: Sequence[str]) -> dict[str, str]:
        holds = [[name] for name in names]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        return {name: os.path.join(directory, name) for name in names}

    def labels(self) -> tuple[str, ...]:
        """The five classes, or the two of SST-2."""
        return _labels(self.builder_config.name)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        config = self.builder_config.name
        paths = self.source_files(config, os.fspath(dl_manager.manual_dir))
        splits, sources, warnings = read_release(config, paths)
        self.record(sources, warnings)
        return self.generators(splits)


class Release(NamedTuple):
    """The content of a release: rows by split, fingerprint, warnings."""

    splits: dict[str, list[LabelledText]]
    sources: Fingerprint
    warnings: list[str]


def read_release(config: str, paths: Mapping[str, str]) -> Release:
    """The texts and labels of one of the forms of SST.

    Args:
        config: the form.
        paths: of `Builder.source_files`.

    Raises:
        DataError: a file is not as it is released.
    """
    files = [LineFile(path) for path in paths.values()]
    of_two = tuple(paths) == _BINARY_CSV
    counts = _BINARY if of_two else _SENTENCES
    trees = dict(zip(counts, map(_read, files, counts.values())))
    splits = {name: _sentences(part) for name, part in trees.items()}
    if _has_phrases(config):
        splits["train"] = _distinct_phrases(trees["train"])
    if _is_binary(config) and not of_two:
        splits = {name: _binary(rows) for name, rows in splits.items()}
    for file, rows in zip(files, splits.values()):
        if not rows:
            raise DataError(f"{file.path}: all its texts are neutral")
        file.report_one_class(rows, _labels(config))
    sources = {name: identify(f.content) for name, f in zip(paths, files)}
    warnings = [warning for file in files for warning in file.warnings]
    return Release(splits, sources, warnings)


def _labels(config: str) -> tuple[str, ...]:
    return POLARITIES if _is_binary(config) else FIVE


def _is_binary(config: str) -> bool:
    return config.startswith("sst2")


def _has_phrases(config: str) -> bool:
    return config.endswith("phrases")


def _read(file: LineFile, sentences: int) -> list[list[LabelledText]]:
    """The phrases of each sentence, itself first; of csv files only itself."""
    if file.name.endswith(".csv"):
        file.report_count(sentences + 1)  # and the header
        return [[row] for row in _read_csv(file)]
    file.report_count(sentences)
    return [list(map(tuple, tree)) for tree in read_trees(file)]


def _read_csv(file: LineFile) -> list[LabelledText]:
    lines = list(file.lines)
    while lines and not lines[-1].strip():
        lines.pop()
    lines[0] = lines[0].removeprefix("\ufeff")
    classes = 2 if file.name in _BINARY_CSV else len(FIVE)
    rows = []
    for number, cells in csv_records(file.path, lines):
        if number == 1:
            if cells != _HEADER:
                raise DataError(
                    f"{file.path}:1: the header must be {','.join(_HEADER)}, "
                    f"found {short(lines[0])}"
                )
            continue
        rows.append(_row(f"{file.path}:{number}", cells, classes))
    if not rows:
        raise DataError(f"{file.path}: there are no rows under the header")
    file.report_empty([*_HEADER[:1], *(text for text, _ in rows)])
    return rows


def _row(location: str, cells: list[str], classes: int) -> LabelledText:
    if len(cells) != len(_HEADER):
        raise DataError(
            f"{location}: {len(cells)} fields, but a label and a sentence are "
            f"wanted: {short(','.join(cells))}"
        )
    label, text = cells
    if label not in map(str, range(classes)):
        raise DataError(
            f"{location}: unknown label {short(label)}; it must be 0 to "
            f"{classes - 1}"
        )
    return text, int(label)


def _sentences(trees: list[list[LabelledText]]) -> list[LabelledText]:
    return [tree[0] for tree in trees]


def _distinct_phrases(trees: list[list[LabelledText]]) -> list[LabelledText]:
    """The phrases without repetition; many are in several trees."""
    return list(dict.fromkeys(phrase for tree in trees for phrase in tree))


def _binary(rows: list[LabelledText]) -> list[LabelledText]:
    return [
        (text, int(label > _NEUTRAL))
        for text, label in rows
        if label != _NEUTRAL
    ]
