"""Parts of speech from the CoNLL-U files of any one UD treebank."""

import os
import pathlib
import re

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.column_files import CONLLU_COLUMNS, read_conllu
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.tagged import Example, TaggedCorpusBuilder, choose_release
from mtl_tf.datasets.ud_pos import CONFIGS

_SPLITS = {"train": "train", "validation": "dev", "test": "test"}
# Large treebanks have several training files: de_hdt-ud-train-a-1.conllu.
_FILE = re.compile(
    r"(.+)-ud-(train|dev|test)(?:-([A-Za-z0-9-]+))?\.conllu(?:\.gz)?"
)
# The numbers of sentences since release 2.8; earlier ones differ by one or two.
_SENTENCES = {
    "en_ewt-ud-train.conllu": 12_544,
    "en_ewt-ud-dev.conllu": 2001,
    "en_ewt-ud-test.conllu": 2077,
}
_ABSENT = "_"


class Builder(TaggedCorpusBuilder):
    """Builds a treebank's words with UPOS and XPOS: train, validation, test."""

    FOLDERS = ("ud_pos",)
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    COLUMNS = {name: CONLLU_COLUMNS.index(name) for name in CONFIGS}
    TOKENS = CONLLU_COLUMNS.index("form")
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the files *-ud-train.conllu, *-ud-dev.conllu and *-ud-test.conllu of one
    treebank of Universal Dependencies into manual_dir/ud_pos/, into manual_dir
    itself, or into any folder in it. See the README beside this builder.
    """

    @classmethod
    def files_of_splits(cls, manual_dir: str) -> dict[str, list[str]]:
        """The paths of the official files of each split, perhaps several.

        Raises:
            DataError: there is no treebank, or more than one.
        """
        directory, treebank = _find(corpus_directory(manual_dir, cls.FOLDERS))
        release = {
            split: f"{treebank}-ud-{part}.conllu"
            for split, part in _SPLITS.items()
        }
        paths = choose_release(directory, [release], "ud_pos")
        for split, part in _SPLITS.items():
            if not pathlib.Path(*paths[split]).is_file():
                paths[split] = _parts(directory, treebank, part) or paths[split]
        return paths

    def read(self, file: LineFile):
        """The sentences of a file."""
        return read_conllu(file.path, file.lines)

    def check(self, file: LineFile, examples: list[Example]) -> None:
        """Refuses a column without annotation, and warns of unknown counts."""
        name = self.builder_config.name
        if all(tag == _ABSENT for row in examples for tag in row[name]):
            raise DataError(
                f"{file.path}: the column {name.upper()} is empty: the "
                "treebank does not have these tags"
            )
        known = _SENTENCES.get(file.name.removesuffix(".gz"), len(examples))
        if len(examples) != known:
            file.warn(
                f"{len(examples):,} sentences; releases since 2.8 have "
                f"{known:,}"
            )


def _find(directory: str) -> tuple[str, str]:
    """The folder of the only treebank in or under `directory`, and its name."""
    treebanks = _treebanks(directory)
    for entry in [] if treebanks else sorted(pathlib.Path(directory).iterdir()):
        if entry.is_dir():
            treebanks += _treebanks(os.fspath(entry))
    if len(treebanks) != 1:
        names = ", ".join(os.path.join(*place) for place in treebanks[:6])
        error = DataError if treebanks else MissingData
        raise error(
            f"ud_pos: {directory} holds {len(treebanks) or 'no'} treebanks "
            + (f"({names})" if treebanks else "(files *-ud-train.conllu)")
            + ": name the folder of one by --manual_dir (or "
            "MTL_TF_MANUAL_DIR), or put its files into ud_pos/"
        )
    return treebanks[0]


def _parts(directory: str, treebank: str, part: str) -> list[str]:
    """The files of a divided set, sorted by name."""
    entries = sorted(pathlib.Path(directory).iterdir())
    matches = [(entry, _FILE.fullmatch(entry.name)) for entry in entries]
    return [
        os.fspath(entry)
        for entry, match in matches
        if match and match[3] and match.group(1, 2) == (treebank, part)
    ]


def _treebanks(directory: str) -> list[tuple[str, str]]:
    entries = sorted(pathlib.Path(directory).iterdir())
    matches = [_FILE.fullmatch(entry.name) for entry in entries]
    names = dict.fromkeys(match[1] for match in matches if match)
    return [(directory, name) for name in names]
