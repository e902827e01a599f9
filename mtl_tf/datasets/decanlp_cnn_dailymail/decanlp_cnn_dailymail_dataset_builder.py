"""CNN/DailyMail from its official stories, as question answering."""

import os
from collections.abc import Iterator, Sequence

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.decanlp_cnn_dailymail import stories
from mtl_tf.datasets.lines import count
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder, Reading
from mtl_tf.datasets.sources import fingerprint

QUESTION = "What is the summary?"
_COUNTS = {"train": 287_227, "validation": 13_368, "test": 11_490}


class Builder(QuestionAnswerBuilder):
    """Builds CNN/DailyMail: train, validation and test."""

    FOLDERS = stories.FOLDERS
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the folders cnn/stories/ and dailymail/stories/ of *.story files, as the
    official archives unpack, and the lists all_train.txt, all_val.txt and
    all_test.txt of addresses into manual_dir/cnn_dailymail/ or into manual_dir
    itself. See the README beside this builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the folders of stories and of the lists of URLs.

        Raises:
            DataError: there is no such folder (`MissingData`: no story in it).
        """
        return stories.find(manual_dir).paths()

    def read(self, config: str, manual_dir: str) -> Reading:
        """The stories of each split, which are read one by one when needed.

        Raises:
            DataError: no story has a summary.
        """
        files = stories.find(manual_dir)
        paths, warnings = stories.divide(files)
        odd: dict[str, list[str]] = {}
        splits = {
            s: _Rows(_usable(of_split, odd)) for s, of_split in paths.items()
        }
        if not any(map(len, splits.values())):
            raise DataError(
                f"{', '.join(files.folders.values())}: no story has a summary; "
                "it must follow lines that say @highlight"
            )
        warnings += [
            f"stories: {count(len(names), 'file')} {oddity} (first: {names[0]})"
            for oddity, names in odd.items()
        ]
        if files.lists:
            warnings += [
                f"{split}: {count(len(rows), 'file')}; the released corpus "
                f"has {_COUNTS[split]:,}"
                for split, rows in splits.items()
                if len(rows) != _COUNTS[split]
            ]
        return Reading(splits, fingerprint(files.paths()), warnings)


class _Rows(Sequence[QuestionAnswer]):
    """The examples of files, read when needed, as they are a gigabyte."""

    def __init__(self, paths: Sequence[str]):
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[QuestionAnswer]:
        return map(_example, self._paths)

    def __getitem__(self, index):
        return _example(self._paths[index])


def _example(path: str) -> QuestionAnswer:
    story = stories.read_story(path)
    name = os.path.basename(path).removesuffix(stories.SUFFIX)
    return QuestionAnswer(QUESTION, story.text, (story.summary,), name)


def _usable(paths: Sequence[str], odd: dict[str, list[str]]) -> list[str]:
    """The paths of stories with a summary; adds odd ones to `odd`."""
    usable = []
    for path in paths:
        story, name = stories.read_story(path), os.path.basename(path)
        if not story.is_utf8:
            odd.setdefault("not UTF-8, read as Latin-1", []).append(name)
        if not story.summary:
            odd.setdefault("without a summary, skipped", []).append(name)
            continue
        if not story.text:
            odd.setdefault("without a text, kept", []).append(name)
        usable.append(path)
    return usable
