"""The base class of question answering builders, and look-up of files."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import question_answers
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LineFile, count
from mtl_tf.datasets.parallel import packed_or_not
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.sources import Fingerprint, head_of, identify

# Many corpora have files of these names.
_COMMON = ("train.", "dev.", "dev_", "test.")


class Reading(NamedTuple):
    """The content of a corpus's files.

    Attributes:
        splits: the examples, in the order of the files. They are read more than
            once, by a count and by TFDS, so they must not be iterators.
        sources: the fingerprint of the files.
        warnings: warnings with counts, a sentence each.
    """

    splits: Mapping[str, Iterable[QuestionAnswer]]
    sources: Fingerprint
    warnings: list[str]


class QuestionAnswerBuilder(CorpusBuilder, skip_registration=True):
    """Builds questions, contexts and answers; see `question_answers`.

    A corpus whose splits have files of fixed names defines `FILES` and its own
    `read_split`. If a release is incomplete, only splits with files are built.
    Any other corpus defines its own `source_files` and `read`.

    Attributes:
        FILES: the file names of each split.
        PREFERRED: of several folders with such files, the name of the one that
            is taken.
        COUNTS: the numbers of examples of the released corpus, by split.
    """

    VERSION = tfds.core.Version("1.0.0")
    FILES: Mapping[str, Sequence[str]] = {}
    PREFERRED = ""
    COUNTS: Mapping[str, int] = {}

    @classmethod
    def files_of(cls, config: str) -> Mapping[str, Sequence[str]]:
        """The file names of each split."""
        del config
        return cls.FILES

    @classmethod
    def marks_of(cls, config: str) -> Sequence[bytes]:
        """See `check_marks`."""
        del config
        return ()

    @classmethod
    def counts_of(cls, config: str) -> Mapping[str, int]:
        """The released corpus's examples by split; {} if unknown."""
        del config
        return cls.COUNTS

    @classmethod
    def files_of_splits(
        cls, config: str, manual_dir: str
    ) -> dict[str, list[str]]:
        """The paths of the files of each available split, compressed or not.

        A split of several files is available if one of them is. If no split is,
        these are the expected paths of all files.

        Raises:
            DataError: there is no such folder (`MissingData`: its files are
                another corpus's).
        """
        names = cls.files_of(config)
        directory = corpus_directory(
            manual_dir,
            cls.FOLDERS,
            [list(map(cls._pattern, parts)) for parts in names.values()],
            cls.LAYOUT,
            cls.PREFERRED,
        )
        paths = {
            split: [cls._path(directory, name) for name in parts]
            for split, parts in names.items()
        }
        present = {
            split: parts
            for split, parts in paths.items()
            if any(map(os.path.isfile, parts))
        }
        check_marks(cls.FOLDERS[0], cls.marks_of(config), present)
        return present or paths

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the official files that exist, by name.

        Raises:
            DataError: there is no such folder.
        """
        paths = cls.files_of_splits(config, manual_dir).values()
        return {os.path.basename(p): p for parts in paths for p in parts}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The examples of each split whose files are there.

        Raises:
            DataError: a file is missing or wrong, or gives no example.
        """
        paths = self.files_of_splits(config, manual_dir)
        sources, warnings, parts = {}, [], {}
        for split, names in paths.items():
            files = [LineFile(name) for name in names]
            parts[split] = self.read_split(split, files)
            for file in files:
                sources[file.name] = identify(file.content)
                warnings += file.warnings
        warnings += absent(self.files_of(config), paths)
        splits = self.divide(parts, warnings)
        for split, rows in splits.items():
            number = sum(1 for _ in rows)
            expected = self.counts_of(config).get(split, number)
            self._report_count(split, number, expected, warnings)
        return Reading(splits, sources, warnings)

    def read_split(
        self, split: str, files: Sequence[LineFile]
    ) -> Iterable[QuestionAnswer]:
        """The examples of a split; warnings go to the files.

        Args:
            split: name of the split.
            files: its files, in the order of `FILES`.

        Returns:
            The examples; no iterator, see `Reading`.

        Raises:
            DataError: a file is wrong; the message says where.
        """
        raise NotImplementedError

    def divide(
        self, parts: dict[str, Iterable[QuestionAnswer]], warnings: list[str]
    ) -> dict[str, Iterable[QuestionAnswer]]:
        """The splits of the build, made from those of the files."""
        del warnings
        return parts

    @classmethod
    def _pattern(cls, name: str) -> str:
        """The pattern of the names that a file may have."""
        return name

    @classmethod
    def _path(cls, directory: str, name: str) -> str:
        return packed_or_not(os.path.join(directory, name))

    def _info(self) -> tfds.core.DatasetInfo:
        return self.described(question_answers.features())

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        config = self.builder_config.name if self.builder_config else ""
        reading = self.read(config, os.fspath(dl_manager.manual_dir))
        self.record(reading.sources, reading.warnings)
        return {
            split: self._generate_examples(rows)
            for split, rows in reading.splits.items()
            if any(True for _ in rows)
        }

    def _generate_examples(self, rows: Iterable[QuestionAnswer]) -> Iterator:
        return question_answers.examples(rows)

    def _report_count(
        self, split: str, number: int, expected: int, warnings: list[str]
    ) -> None:
        if not number:
            raise DataError(
                f"{self.name}: no question of {split} has an answer: take the "
                "official files"
            )
        if number != expected:
            warnings.append(
                f"{split}: {count(number, 'example')}; the released corpus has "
                f"{expected:,}"
            )


def check_marks(
    corpus: str, marks: Sequence[bytes], paths: Mapping[str, Iterable[str]]
) -> None:
    """Refuses another corpus's files of very common names, as train.jsonl.

    Args:
        corpus: its name, for messages.
        marks: its files have one of these at their start; () for any start.
        paths: the paths of the existing files of each split.

    Raises:
        MissingData: all files have such names, and none has a mark.
    """
    files = [path for of_split in paths.values() for path in of_split]
    if not marks or not all(
        os.path.basename(path).startswith(_COMMON) for path in files
    ):
        return
    heads = [head_of(path) for path in files]
    if heads and not any(mark in head for mark in marks for head in heads):
        names = " or ".join(mark.decode() for mark in marks)
        raise MissingData(
            f"{corpus}: {', '.join(files)}: none has {names} at its start, so "
            "they are of another corpus"
        )


def absent(
    names: Mapping[str, Iterable[str]], present: Collection[str]
) -> list[str]:
    """Warnings of the splits whose files are not there.

    Args:
        names: the possible file names of each split.
        present: the splits that have files.
    """
    return [
        f"there is no {next(iter(files))}: the build has no {split}"
        for split, files in names.items()
        if split not in present
    ]


def present_files(
    corpus: str, directory: str, names: Mapping[str, Iterable[str]]
) -> dict[str, list[str]]:
    """The paths of the existing files of each split, compressed or not.

    Args:
        corpus: its name, for messages.
        directory: the folder to look in.
        names: possible file names of each split.

    Returns:
        Paths by split; splits without a file are left out.

    Raises:
        MissingData: no split has a file.
    """
    paths_of = {
        split: [
            path
            for name in files
            if os.path.isfile(
                path := packed_or_not(os.path.join(directory, name))
            )
        ]
        for split, files in names.items()
    }
    if not any(paths_of.values()):
        listed = ", ".join(name for files in names.values() for name in files)
        raise MissingData(
            f"{corpus}: {directory} has none of {listed}: the folder given by "
            "--manual_dir (or MTL_TF_MANUAL_DIR) must hold the corpus's "
            "official files under their official names"
        )
    return {split: paths for split, paths in paths_of.items() if paths}
