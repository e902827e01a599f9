"""CoNLL-2003 (English) from its official files, IOB1 or IOB2."""

import tensorflow_datasets as tfds

from mtl_tf.datasets.column_files import read_sentences
from mtl_tf.datasets.conll2003 import CONFIGS
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.tagged import (
    Counts,
    TaggedCorpusBuilder,
    choose_release,
)

_SPLITS = ("train", "validation", "test")
# The shared task's file names, and those of common copies.
_RELEASES = (
    ("eng.train", "eng.testa", "eng.testb"),
    ("train", "testa", "testb"),
    ("eng.train.txt", "eng.testa.txt", "eng.testb.txt"),
    ("train.txt", "testa.txt", "testb.txt"),
    ("train.txt", "valid.txt", "test.txt"),
    ("train.txt", "dev.txt", "test.txt"),
    ("train.txt", "validation.txt", "test.txt"),
)


# The TFDS catalogue also has a `conll2003`, and TFDS fails if a process
# registers a second builder of a name.
class Builder(TaggedCorpusBuilder, skip_registration=True):
    """Builds CoNLL-2003: train, validation (testa) and test (testb)."""

    FOLDERS = ("conll2003", "conll-2003", "conll03")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    COLUMNS = {"pos": 1, "chunk": 2, "ner": 3}
    SPANS = ("chunk", "ner")
    COUNTS = {
        "train": Counts(14_041, 203_621),
        "validation": Counts(3250, 51_362),
        "test": Counts(3453, 46_435),
    }
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official files eng.train, eng.testa and eng.testb of the CoNLL-2003
    shared task (or train, testa and testb, or train.txt, valid.txt and
    test.txt), packed (.gz) or not, into manual_dir/conll2003/ or into
    manual_dir itself. See the README beside this builder.
    """

    @classmethod
    def files_of_splits(cls, manual_dir: str) -> dict[str, list[str]]:
        """Path of the official file of each split."""
        releases = [dict(zip(_SPLITS, names)) for names in _RELEASES]
        holds = list(zip(*_RELEASES))
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        return choose_release(directory, releases, "conll2003")

    def read(self, file: LineFile):
        """The sentences of a file."""
        return read_sentences(file.path, file.lines, columns=4)
