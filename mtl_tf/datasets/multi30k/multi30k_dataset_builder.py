"""Multi30k, task 1, from its tokenised files."""

import os
import pathlib
import re

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.multi30k import CONFIGS
from mtl_tf.datasets.parallel import ParallelCorpusBuilder, packed_or_not
from mtl_tf.datasets.sources import corpus_directory

_PARTS = {"train": "train", "validation": "val"}
_FILE = re.compile(r"(\w+)\.lc\.norm\.tok\.([a-z]+)(?:\.gz)?")
# The folders of the files: this one, or in a copy of the project's repository.
_FOLDERS = ("", "data/task1/tok", "dataset/data/task1/tok")


class Builder(ParallelCorpusBuilder):
    """Builds Multi30k: train, validation and all available test sets."""

    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    COUNTS = {
        "train": 29_000,
        "validation": 1014,
        "test_2016_flickr": 1000,
        "test_2017_flickr": 1000,
        "test_2017_mscoco": 461,
        "test_2018_flickr": 1071,
    }
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the tokenised files of task 1, such as train.lc.norm.tok.en, packed
    (.gz) or not, into manual_dir/multi30k/ or into manual_dir itself. See the
    README beside this builder.
    """

    @classmethod
    def files_of_splits(
        cls, pair: str, manual_dir: str
    ) -> dict[str, tuple[str, str]]:
        """Paths of both files of each split.

        Raises:
            DataError: the folder has no training file (`MissingData` if it has
                no file at all, or none in one of the languages).
        """
        directory = _find(corpus_directory(manual_dir, "multi30k"))
        languages = pair.split("-")
        names = {**_PARTS, **_test_sets(directory, languages)}
        paths = {
            split: [f"{name}.lc.norm.tok.{language}" for language in languages]
            for split, name in names.items()
        }
        paths_of = {
            split: tuple(
                packed_or_not(os.path.join(directory, name))
                for name in names_of_pair
            )
            for split, names_of_pair in paths.items()
        }
        for side, language in enumerate(languages):
            files = [
                pathlib.Path(names_of_pair[side])
                for names_of_pair in paths_of.values()
            ]
            if not any(file.exists() for file in files):
                raise MissingData(
                    f"multi30k/{pair}: {directory} has no file in {language}, "
                    f"such as {paths_of['train'][side]}"
                )
        return paths_of


def _find(directory: str) -> str:
    name = "train.lc.norm.tok.en"
    for folder in _FOLDERS:
        inner = os.path.join(directory, folder)
        if pathlib.Path(packed_or_not(os.path.join(inner, name))).is_file():
            return inner
    # If some files exist, the corpus is not missing but incomplete.
    has_files = any(
        _FILE.fullmatch(entry.name)
        for folder in _FOLDERS
        for entry in pathlib.Path(directory, folder).glob("*.tok.*")
    )
    raise (DataError if has_files else MissingData)(
        f"multi30k: {directory} has not {name} (it may be packed, as .gz): "
        "the folder given by --manual_dir (or MTL_TF_MANUAL_DIR) must hold "
        "the tokenised files of task 1"
    )


def _test_sets(directory: str, languages: list[str]) -> dict[str, str]:
    """The test sets that have files in both languages."""
    languages_of: dict[str, set[str]] = {}
    for entry in pathlib.Path(directory).iterdir():
        match = _FILE.fullmatch(entry.name)
        if match and match[1].startswith("test"):
            languages_of.setdefault(match[1], set()).add(match[2])
    return {
        name: name
        for name in sorted(languages_of)
        if languages_of[name] >= set(languages)
    }
