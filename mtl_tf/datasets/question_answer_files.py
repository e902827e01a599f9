"""Building corpora of questions and answers from official files.

A corpus has some files a split. Of a release that is there in part, the splits
are built whose files are there.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import question_answers, sentiment
from mtl_tf.datasets.lines import LineFile, count
from mtl_tf.datasets.parallel import packed_or_not
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.sources import corpus_directory, identify


class QuestionAnswerBuilder(
    tfds.core.GeneratorBasedBuilder, skip_registration=True
):
    """Builds questions, contexts and answers; see `question_answers`.

    Attributes:
        CORPUS: name of the corpus, and of its folder.
        FOLDERS: other folders of the manual folder that may be the corpus's.
        LAYOUT: where inside of it the files may be, "" for the folder itself.
        FILES: names of the files of each split.
        COUNTS: examples of the released corpus, by split.
    """

    VERSION = tfds.core.Version("1.0.0")
    CORPUS = ""
    FOLDERS: Sequence[str] = ()
    LAYOUT: Sequence[str] = ("",)
    FILES: Mapping[str, Sequence[str]] = {}
    COUNTS: Mapping[str, int] = {}

    @classmethod
    def files_of(cls, config: str) -> Mapping[str, Sequence[str]]:
        """Names of the files of each split."""
        del config
        return cls.FILES

    @classmethod
    def counts_of(cls, config: str) -> Mapping[str, int]:
        """Examples of the released corpus, by split; {} if not known."""
        del config
        return cls.COUNTS

    @classmethod
    def files_of_splits(
        cls, config: str, manual_dir: str
    ) -> dict[str, list[str]]:
        """Paths of the files of each split that is there, packed or not.

        A split of several files is there if one of them is. If no split is,
        these are the paths where all files should be.

        Raises:
            DataError: there is no such folder.
        """
        names = cls.files_of(config)
        best: dict[str, list[str]] = {}
        found = -1
        for directory in cls._directories(manual_dir):
            paths = {
                split: [cls._path(directory, name) for name in parts]
                for split, parts in names.items()
            }
            present = {
                split: parts
                for split, parts in paths.items()
                if any(map(os.path.isfile, parts))
            }
            if len(present) > found:
                found, best = len(present), present or paths
        return best

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files that are there, by file name."""
        paths = cls.files_of_splits(config, manual_dir).values()
        return {os.path.basename(p): p for parts in paths for p in parts}

    def read(
        self, split: str, files: Sequence[LineFile]
    ) -> Iterable[QuestionAnswer]:
        """The examples of a split; warnings go to the files.

        Args:
            split: name of the split.
            files: its files, in the order of `FILES`.

        Returns:
            The examples. TFDS goes through them once, and so does whoever
            counts them first: they are no iterator.

        Raises:
            DataError: a file is wrong; the message says where.
        """
        raise NotImplementedError

    def divide(
        self, parts: dict[str, Iterable[QuestionAnswer]], warnings: list[str]
    ) -> dict[str, Iterable[QuestionAnswer]]:
        """The splits of the build, from those of the files."""
        del warnings
        return parts

    @classmethod
    def _directories(cls, manual_dir: str) -> Iterator[str]:
        """Folders where the files may be, the likeliest first."""
        for name in (cls.CORPUS, *cls.FOLDERS):
            directory = corpus_directory(manual_dir, name)
            for inner in cls.LAYOUT:
                yield os.path.join(directory, inner) if inner else directory

    @classmethod
    def _path(cls, directory: str, name: str) -> str:
        return packed_or_not(os.path.join(directory, name))

    def _info(self) -> tfds.core.DatasetInfo:
        return question_answers.dataset_info(self)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        config = self.builder_config.name if self.builder_config else ""
        paths = self.files_of_splits(config, os.fspath(dl_manager.manual_dir))
        sources, warnings, parts = {}, [], {}
        for split, names in paths.items():
            files = [LineFile(name) for name in names]
            parts[split] = self.read(split, files)
            for file in files:
                sources[file.name] = identify(file.content)
                warnings += file.warnings
        for split, names in self.files_of(config).items():
            if split not in paths:
                warnings.append(
                    f"there is no {names[0]}: the build has no {split}"
                )
        splits = self.divide(parts, warnings)
        for split, rows in splits.items():
            number = sum(1 for _ in rows)
            expected = self.counts_of(config).get(split, number)
            self._report_count(split, number, expected, warnings)
        sentiment.record(self, sources, warnings)
        return {
            split: self._generate_examples(rows)
            for split, rows in splits.items()
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


class Oddities:
    """Counts what is odd in a file, for its warnings.

    Args:
        file: the file that the warnings are about.
        place: what the places are, such as "line".
    """

    def __init__(self, file: LineFile, place: str = "line"):
        self._file = file
        self._place = place
        self._found: dict[tuple[str, str], list[int | str]] = {}

    def add(self, noun: str, what: str, place: int | str) -> None:
        """Counts one more.

        Args:
            noun: what is odd, in the singular, such as "question".
            what: what is odd about it and what became of it.
            place: where it stands.
        """
        self._found.setdefault((noun, what), []).append(place)

    def report(self) -> None:
        """Adds a warning to the file for each kind that was found."""
        for (noun, what), places in self._found.items():
            self._file.warn(
                f"{count(len(places), noun)} {what} (first: {self._place} "
                f"{places[0]})"
            )
