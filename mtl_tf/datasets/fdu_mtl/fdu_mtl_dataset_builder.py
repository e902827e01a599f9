"""FDU-MTL: sixteen review domains, two classes, from the official files."""

import os

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import sentiment
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.fdu_mtl import TASKS
from mtl_tf.datasets.lines import LabelledText, LineFile
from mtl_tf.datasets.sources import identify

_LABELS = {"0": 0, "1": 1}

# By convention, validation is the last lines of a training file.
_VALIDATION = 200

# The known numbers of lines of the released files.
_TRAIN = dict.fromkeys(TASKS, 1600) | {
    "baby": 1500,
    "software": 1515,
    "magazines": 1570,
    "camera_photo": 1597,
    "electronics": 1598,
}
_TEST = dict.fromkeys(TASKS, 400)
_UNLABEL = dict.fromkeys(TASKS, 2000) | {"software": 475}


class Builder(CorpusBuilder):
    """Builds one task of FDU-MTL: train, validation, test and unlabelled."""

    VERSION = tfds.core.Version("1.0.0")
    FOLDERS = ("fdu_mtl", "fdu-mtl", "mtl-dataset")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=task) for task in TASKS]
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files <task>.task.train, <task>.task.test and
    <task>.task.unlabel of FDU-MTL into manual_dir/fdu_mtl/ or into manual_dir
    itself. See the README beside this builder.
    """

    @classmethod
    def source_files(cls, task: str, manual_dir: str) -> dict[str, str]:
        """Paths of the task's three official files, by file name.

        Raises:
            DataError: there is no such folder.
        """
        names = [f"{task}.task.{end}" for end in ("train", "test", "unlabel")]
        holds = [[name] for name in names]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        return {name: os.path.join(directory, name) for name in names}

    def _info(self) -> tfds.core.DatasetInfo:
        return sentiment.dataset_info(self)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        # Everything is read here, not in the generators, where TFDS would
        # rewrite error messages.
        task = self.builder_config.name
        paths = self.source_files(task, os.fspath(dl_manager.manual_dir))
        train, test, unlabel = (LineFile(path) for path in paths.values())
        train.report_count(_TRAIN[task])
        test.report_count(_TEST[task])
        unlabel.report_count(_UNLABEL[task])
        training, validation = _divide(train)
        splits = {
            "train": training,
            "validation": validation,
            "test": _labelled(test),
            "unlabelled": [
                (text, sentiment.UNLABELLED) for text in unlabel.texts()
            ],
        }
        files = (train, test, unlabel)
        sentiment.record(
            self,
            {file.name: identify(file.content) for file in files},
            [warning for file in files for warning in file.warnings],
        )
        return {
            name: self._generate_examples(rows) for name, rows in splits.items()
        }

    def _generate_examples(self, rows: list[LabelledText]):
        return sentiment.examples(rows)


def _labelled(file: LineFile) -> list[LabelledText]:
    rows = file.labelled(_LABELS)
    file.report_one_class(rows, sentiment.LABELS)
    return rows


def _divide(file: LineFile) -> tuple[list[LabelledText], list[LabelledText]]:
    rows = _labelled(file)
    if len(rows) <= _VALIDATION:
        raise DataError(
            f"{file.path}: {len(rows)} lines, of which the last {_VALIDATION} "
            f"are the validation split; at least {_VALIDATION + 1} are needed"
        )
    parts = rows[:-_VALIDATION], rows[-_VALIDATION:]
    if len({label for _, label in rows}) > 1:
        file.report_one_class(
            parts[0], sentiment.LABELS, " before the last 200"
        )
        file.report_one_class(parts[1], sentiment.LABELS, " in the last 200")
    return parts
