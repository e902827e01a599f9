"""Corpora of one file per class, without an official split.

A tenth of each class is drawn for testing. The draw depends only on the corpus,
the class and its number of sentences. So everybody with the files tests on the
same sentences.
"""

import os
from collections.abc import Mapping

import tensorflow_datasets as tfds

from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LabelledText, LineFile
from mtl_tf.datasets.tenths import draw_tenth
from mtl_tf.datasets.text_class_builder import TextClassBuilder


class ClassFilesBuilder(TextClassBuilder, skip_registration=True):
    """Builds `train` and `test` from one file per class.

    Attributes:
        CORPUS: the name of the corpus.
        FILES: class name to official file name.
        SENTENCES: the number of lines of a released file.
    """

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

    def labels(self) -> tuple[str, ...]:
        """The names of the classes that have files."""
        return tuple(self.FILES)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = self.source_files("", os.fspath(dl_manager.manual_dir))
        files = [LineFile(path) for path in paths.values()]
        train: list[LabelledText] = []
        test: list[LabelledText] = []
        for label, file in enumerate(files):
            file.report_count(self.SENTENCES)
            rest, drawn = self._divide(file, label)
            train += rest
            test += drawn
        self.record_files(files)
        return self.generators({"train": train, "test": test})

    def _divide(
        self, file: LineFile, label: int
    ) -> tuple[list[LabelledText], list[LabelledText]]:
        """The rows of a class's file for training and testing, in order."""
        rows = [(text.strip(), label) for text in file.texts()]
        return draw_tenth(
            rows,
            f"{file.path}: {len(rows)} lines",
            "test",
            self.CORPUS,
            self.labels()[label],
        )
