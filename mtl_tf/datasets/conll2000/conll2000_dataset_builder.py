"""CoNLL-2000 from its official files; validation is drawn from train."""

import tensorflow_datasets as tfds

from mtl_tf.datasets.column_files import read_sentences
from mtl_tf.datasets.conll2000 import CONFIGS
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.tagged import (
    Counts,
    Example,
    TaggedCorpusBuilder,
    choose_release,
)
from mtl_tf.datasets.tenths import draw_tenth


class Builder(TaggedCorpusBuilder):
    """Builds CoNLL-2000: train, validation (drawn from train) and test."""

    FOLDERS = ("conll2000", "conll-2000", "conll00")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    COLUMNS = {"pos": 1, "chunk": 2}
    SPANS = ("chunk",)
    COUNTS = {"train": Counts(8936, 211_727), "test": Counts(2012, 47_377)}
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files train.txt and test.txt of the CoNLL-2000 shared task,
    packed (.gz) or not, into manual_dir/conll2000/ or into manual_dir itself.
    See the README beside this builder.
    """

    @classmethod
    def files_of_splits(cls, manual_dir: str) -> dict[str, list[str]]:
        """Path of the official file of each split."""
        release = {"train": "train.txt", "test": "test.txt"}
        holds = [[name] for name in release.values()]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        return choose_release(directory, [release], "conll2000")

    def read(self, file: LineFile):
        """The sentences of a file."""
        return read_sentences(file.path, file.lines, columns=3)

    def divide(
        self, parts: dict[str, list[Example]]
    ) -> dict[str, list[Example]]:
        """Draws a tenth of the training sentences for validation.

        The draw depends only on the number of sentences, so it is the same for
        all configurations and for everybody.
        """
        rows = parts["train"]
        train, validation = draw_tenth(
            rows,
            f"conll2000: {len(rows)} training sentences",
            "validation",
            "conll2000",
        )
        return {"train": train, "validation": validation, "test": parts["test"]}
