"""WOZ 2.0 (English) from its official JSON files."""

import os

from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.json_values import read_json
from mtl_tf.datasets.lines import count
from mtl_tf.datasets.question_builders import (
    QuestionAnswerBuilder,
    Reading,
    absent,
    present_files,
)
from mtl_tf.datasets.sources import identify, read_source
from mtl_tf.datasets.woz.dialogues import Turns

_FILES = {
    "train": ["woz_train_en.json"],
    "validation": ["woz_validate_en.json"],
    "test": ["woz_test_en.json"],
}
_FOLDERS = ("woz", "woz_2.0", "woz2.0", "woz2")
# The numbers of dialogues and turns in the released files.
_COUNTS = {"train": (600, 2536), "validation": (200, 830), "test": (400, 1646)}


class Builder(QuestionAnswerBuilder):
    """Builds WOZ: train, validation and test, one example per turn."""

    FOLDERS = _FOLDERS
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files woz_train_en.json, woz_validate_en.json and
    woz_test_en.json of WOZ 2.0 into manual_dir/woz/ or into manual_dir itself.
    See the README beside this builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the files that exist, by file name.

        Raises:
            DataError: there is no such folder (`MissingData`: no file in it).
        """
        paths = _find(manual_dir).values()
        return {os.path.basename(path): path for path in paths}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The turns of each file.

        Raises:
            DataError: a file differs from the released form.
        """
        splits, sources = {}, {}
        paths = _find(manual_dir)
        warnings = absent(_FILES, paths)
        for split, path in paths.items():
            content = read_source(path)
            name = os.path.basename(path)
            turns = Turns(read_json(path, content), name)
            sources[name] = identify(content)
            splits[split] = turns.rows
            warnings += turns.warnings
            sizes = turns.dialogues, len(turns.rows)
            if sizes != _COUNTS[split]:
                warnings.append(
                    f"{name}: {count(sizes[0], 'dialogue')} with "
                    f"{count(sizes[1], 'turn')}; "
                    "the released file has {:,} with {:,}".format(
                        *_COUNTS[split]
                    )
                )
        return Reading(splits, sources, warnings)


def _find(manual_dir: str) -> dict[str, str]:
    directory = corpus_directory(manual_dir, _FOLDERS, list(_FILES.values()))
    present = present_files("woz", directory, _FILES)
    return {split: path for split, [path] in present.items()}
