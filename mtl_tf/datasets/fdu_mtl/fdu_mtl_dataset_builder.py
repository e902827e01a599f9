"""FDU-MTL: sixteen review domains, two classes, from the official files."""

import os

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.fdu_mtl import CONFIGS
from mtl_tf.datasets.lines import LabelledText, LineFile
from mtl_tf.datasets.text_class_builder import (
    POLARITIES,
    UNLABELLED,
    TextClassBuilder,
)

_LABELS = {"0": 0, "1": 1}

# By convention, validation is the last lines of a training file.
_VALIDATION = 200

# The known numbers of lines of the released files.
_TRAIN = dict.fromkeys(CONFIGS, 1600) | {
    "baby": 1500,
    "software": 1515,
    "magazines": 1570,
    "camera_photo": 1597,
    "electronics": 1598,
}
_TEST = dict.fromkeys(CONFIGS, 400)
_UNLABEL = dict.fromkeys(CONFIGS, 2000) | {"software": 475}


class Builder(TextClassBuilder):
    """Builds one task of FDU-MTL: train, validation, test and unlabelled."""

    FOLDERS = ("fdu_mtl", "fdu-mtl", "mtl-dataset")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=task) for task in CONFIGS]
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
            "unlabelled": [(text, UNLABELLED) for text in unlabel.texts()],
        }
        self.record_files([train, test, unlabel])
        return self.generators(splits)


def _labelled(file: LineFile) -> list[LabelledText]:
    rows = file.labelled(_LABELS)
    file.report_one_class(rows, POLARITIES)
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
        file.report_one_class(parts[0], POLARITIES, " before the last 200")
        file.report_one_class(parts[1], POLARITIES, " in the last 200")
    return parts
