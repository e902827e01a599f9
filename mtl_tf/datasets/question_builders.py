"""A builder of examples of question answering, and finding its files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import tensorflow_datasets as tfds

from mtl_tf.core.errors import MissingData
from mtl_tf.datasets import question_answers, sentiment
from mtl_tf.datasets.parallel import packed_or_not
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.sources import Fingerprint, corpus_directory


class Reading(NamedTuple):
    """What was read of a corpus's files.

    Attributes:
        splits: the examples, in the order of the files.
        sources: what identifies the files.
        warnings: what was odd, counted, a sentence each.
    """

    splits: Mapping[str, Sequence[QuestionAnswer]]
    sources: Fingerprint
    warnings: list[str]


class QuestionAnswerBuilder(
    tfds.core.GeneratorBasedBuilder, skip_registration=True
):
    """Builds the splits of a corpus whose files `read` reads."""

    VERSION = tfds.core.Version("1.0.0")

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files that are there, by name.

        Raises:
            DataError: there is no such folder, or no file in it.
        """
        raise NotImplementedError

    def read(self, config: str, manual_dir: str) -> Reading:
        """The examples of each split that has a file.

        Raises:
            DataError: a file is missing or wrong.
        """
        raise NotImplementedError

    def _info(self) -> tfds.core.DatasetInfo:
        return question_answers.dataset_info(self)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        config = self.builder_config.name if self.builder_config else ""
        reading = self.read(config, os.fspath(dl_manager.manual_dir))
        sentiment.record(self, reading.sources, reading.warnings)
        return {
            split: self._generate_examples(rows)
            for split, rows in reading.splits.items()
            if rows
        }

    def _generate_examples(self, rows: Sequence[QuestionAnswer]):
        return question_answers.examples(rows)


def find_directory(manual_dir: str, names: Sequence[str]) -> str:
    """The folder of a corpus that goes by several names.

    Args:
        manual_dir: the folder that holds the corpora's folders, or the
            corpus's own folder.
        names: of the corpus's folder, the best first.

    Raises:
        DataError: `manual_dir` is not a folder that can be read.
    """
    found = manual_dir
    # Twice: an archive's own folder may stand in one that is named for it.
    for _ in range(2):
        root = os.path.abspath(os.path.expanduser(found))
        inner = (n for n in names if os.path.isdir(os.path.join(root, n)))
        found = corpus_directory(root, next(inner, names[0]))
    return found


def present_files(
    corpus: str, directory: str, names: Mapping[str, Iterable[str]]
) -> dict[str, list[str]]:
    """Paths of the files of each split that are there, packed (.gz) or not.

    Args:
        corpus: its name, for messages.
        directory: where they are looked for.
        names: names that the file of each split may have.

    Returns:
        Paths by split; splits without a file are left out.

    Raises:
        MissingData: no split has one.
    """
    found = {
        split: [
            path
            for name in some
            if os.path.isfile(
                path := packed_or_not(os.path.join(directory, name))
            )
        ]
        for split, some in names.items()
    }
    if not any(found.values()):
        wanted = ", ".join(name for some in names.values() for name in some)
        raise MissingData(
            f"{corpus}: {directory} has none of {wanted}: the folder given by "
            "--manual_dir (or MTL_TF_MANUAL_DIR) must hold the corpus's "
            "official files under their official names"
        )
    return {split: paths for split, paths in found.items() if paths}
