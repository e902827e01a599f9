"""Corpora of one file per class, without an official split.

A tenth of each class is drawn for testing. The draw depends only on the corpus,
the class and its number of sentences. So everybody with the files tests on the
same sentences.
"""

import os
from collections.abc import Mapping

import tensorflow_datasets as tfds

from mtl_tf.core import random
from mtl_tf.core.errors import DataError
from mtl_tf.datasets import sentiment
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LabelledText, LineFile
from mtl_tf.datasets.sources import identify

_PART = 10  # one in ten


class ClassFilesBuilder(CorpusBuilder, skip_registration=True):
    """Builds `train` and `test` from one file per class.

    Attributes:
        CORPUS: the name of the corpus.
        FILES: class name to official file name.
        SENTENCES: the number of lines of a released file.
    """

    VERSION = tfds.core.Version("1.0.0")
    CORPUS: str
    FILES: Mapping[str, str]
    SENTENCES: int

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the official files, by file name.

        Raises:
            DataError: there is no such folder.
        """
        del config
        names = cls.FILES.values()
        holds = [[name] for name in names]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        return {name: os.path.join(directory, name) for name in names}

    def _info(self) -> tfds.core.DatasetInfo:
        return sentiment.dataset_info(self, tuple(self.FILES))

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = self.source_files("", os.fspath(dl_manager.manual_dir))
        files = [LineFile(path) for path in paths.values()]
        parts: dict[str, list[LabelledText]] = {"train": [], "test": []}
        for label, file in enumerate(files):
            file.report_count(self.SENTENCES)
            for part, rows in self._divide(file, label).items():
                parts[part] += rows
        sentiment.record(
            self,
            {file.name: identify(file.content) for file in files},
            [warning for file in files for warning in file.warnings],
        )
        return {
            name: self._generate_examples(rows) for name, rows in parts.items()
        }

    def _divide(
        self, file: LineFile, label: int
    ) -> dict[str, list[LabelledText]]:
        """The rows of a class's file for training and testing, in order."""
        rows = [(text.strip(), label) for text in file.texts()]
        count = len(rows) // _PART
        if not count:
            raise DataError(
                f"{file.path}: {len(rows)} lines, of which a tenth is the test "
                f"split; at least {_PART} are needed"
            )
        draw = random.generator(
            0, "test", self.CORPUS, tuple(self.FILES)[label]
        )
        drawn = set(draw.permutation(len(rows))[:count].tolist())
        return {
            "train": [row for i, row in enumerate(rows) if i not in drawn],
            "test": [rows[i] for i in sorted(drawn)],
        }

    def _generate_examples(self, rows: list[LabelledText]):
        return sentiment.examples(rows)
