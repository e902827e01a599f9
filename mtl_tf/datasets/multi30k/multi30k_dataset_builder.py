"""Multi30k, task 1, from its tokenised files."""

import contextlib
import os
import pathlib
import re
from collections.abc import Sequence

import tensorflow_datasets as tfds

from mtl_tf.core.errors import MissingData
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.multi30k import CONFIGS
from mtl_tf.datasets.parallel import ParallelCorpusBuilder, packed_or_not

_PARTS = {"train": "train", "validation": "val"}
_TOKENISED, _RAW = "{}.lc.norm.tok.{}", "{}.{}"
# WMT 2016 and 2017 name the test sets by their years.
_YEAR = re.compile(r"^test(\d{4})$")


class Builder(ParallelCorpusBuilder):
    """Builds Multi30k: train, validation and all available test sets."""

    FOLDERS = ("multi30k", "multi30k-dataset", "decanlp_multi30k")
    LAYOUT = tuple(
        f"{root}data/task1/{kind}"
        for kind in ("tok", "raw")
        for root in ("", "dataset/")
    )
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
        cls, pair: str, manual_dir: str, raw: bool = False
    ) -> dict[str, tuple[str, str]]:
        """Paths of both files of each split.

        Args:
            pair: source and target.
            manual_dir: the parent of the corpora's folders, or the corpus's.
            raw: without tokenised files, take the raw ones.

        Raises:
            DataError: the folder has no training file (`MissingData` if it has
                no file at all, or none in one of the languages).
        """
        languages = pair.split("-")
        try:
            return cls._release(_TOKENISED, languages, manual_dir)
        except MissingData:
            if raw:
                with contextlib.suppress(MissingData):
                    return cls._release(_RAW, languages, manual_dir)
            raise

    @classmethod
    def _release(
        cls, form: str, languages: Sequence[str], manual_dir: str
    ) -> dict[str, tuple[str, str]]:
        """The paths of files that have names of a form."""
        holds = [
            [form.format(part, language)]
            for part in _PARTS.values()
            for language in languages
        ]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds, cls.LAYOUT)
        tests = _test_sets(form, directory, languages)
        paths_of = {
            split: tuple(
                packed_or_not(os.path.join(directory, form.format(name, x)))
                for x in languages
            )
            for split, name in {**_PARTS, **tests}.items()
        }
        pair = "-".join(languages)
        for side, language in enumerate(languages):
            paths = [names[side] for names in paths_of.values()]
            if not any(pathlib.Path(path).is_file() for path in paths):
                raise MissingData(
                    f"multi30k/{pair}: {directory} has no file in {language}, "
                    f"such as {form.format('train', language)} (it may be "
                    "packed, as .gz): the folder given by --manual_dir (or "
                    "MTL_TF_MANUAL_DIR) must hold the files of task 1"
                )
        return paths_of


def _test_sets(
    form: str, directory: str, languages: Sequence[str]
) -> dict[str, str]:
    """The test sets that have files in all languages, by their splits."""
    files = {
        path.name.removesuffix(".gz")
        for path in pathlib.Path(directory).iterdir()
    }
    of_language = []
    for language in languages:
        end = form.format("", language)
        names = {x.removesuffix(end) for x in files if x.endswith(end)}
        of_language.append({x for x in names if re.fullmatch(r"test\w*", x)})
    return {
        _YEAR.sub(r"test_\1_flickr", name): name
        for name in sorted(set.intersection(*of_language))
    }
