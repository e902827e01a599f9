"""Labelled sentences of Kotzias et al. (2015), as question answering."""

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.kotzias_reviews import CONFIGS
from mtl_tf.datasets.lines import LabelledText, LineFile, count, short
from mtl_tf.datasets.question_builders import (
    QuestionAnswerBuilder,
    Reading,
    present_files,
)
from mtl_tf.datasets.sentiment_questions import cast
from mtl_tf.datasets.sources import identify
from mtl_tf.datasets.text_class_builder import POLARITIES

_FILES = {
    "imdb": "imdb_labelled.txt",
    "amazon": "amazon_cells_labelled.txt",
    "yelp": "yelp_labelled.txt",
}
_SENTENCES = 1000
# The archive's folder has spaces in its name.
_NAMES = (
    "kotzias_reviews",
    "kotzias",
    "sentiment labelled sentences",
    "sentiment_labelled_sentences",
)
_LABELS = {"0": 0, "1": 1}


class Builder(QuestionAnswerBuilder):
    """Builds the sentences of a site; all of them are the test split."""

    FOLDERS = _NAMES
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files imdb_labelled.txt, amazon_cells_labelled.txt and
    yelp_labelled.txt into manual_dir/kotzias_reviews/ or into manual_dir
    itself. See the README beside this builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Path of the site's file, by its name.

        Raises:
            DataError: there is no such folder (`MissingData`: no such file).
        """
        name = _FILES[config]
        directory = corpus_directory(manual_dir, _NAMES, [[name]])
        corpus = f"kotzias_reviews/{config}"
        [path] = present_files(corpus, directory, {"test": [name]})["test"]
        return {name: path}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The sentences of the site.

        Raises:
            DataError: a line has no label.
        """
        [path] = self.source_files(config, manual_dir).values()
        file = LineFile(path)
        rows = _rows(file)
        if len(rows) != _SENTENCES:
            file.warn(
                f"{count(len(rows), 'sentence')}; the released file has "
                f"{_SENTENCES:,}"
            )
        file.report_one_class(rows, POLARITIES)
        sources = {file.name: identify(file.content)}
        return Reading({"test": cast(rows, "test")}, sources, file.warnings)


def _rows(file: LineFile) -> list[LabelledText]:
    """Rows of a sentence, spaces and a tab, and then the label."""
    rows = []
    blank = empty = 0
    for number, line in enumerate(file.lines, 1):
        if not line.strip():
            blank += 1
            continue
        text, tab, label = line.rpartition("\t")
        if not tab or label.strip() not in _LABELS:
            fault = f"label {short(label)}" if tab else "no tab"
            raise DataError(
                f"{file.path}:{number}: {fault} in the line {short(line)}; it "
                "must be a sentence, a tab and 0 or 1"
            )
        empty += not text.strip()
        rows.append((text.strip(), _LABELS[label.strip()]))
    if blank:
        file.warn(f"{count(blank, 'blank line')} skipped")
    if empty:
        file.warn(f"{count(empty, 'empty sentence')}, kept")
    return rows
