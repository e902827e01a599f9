"""The base class of the builders of this project's tagging corpora."""

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets.column_files import Sentence, column
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.lines import LineFile, count, short
from mtl_tf.text import span_schemes

Example = dict[str, list[str]]


class Counts(NamedTuple):
    """The known counts of a released file."""

    sentences: int
    tokens: int


def choose_release(
    directory: str, releases: Sequence[Mapping[str, str]], corpus: str
) -> dict[str, list[str]]:
    """The paths of the files of the most complete release in a folder.

    Args:
        directory: the folder.
        releases: file names by split; of equally complete ones the first is
            taken. Each file may be compressed, with `.gz` after its name.
        corpus: its name, for messages.

    Returns:
        Paths by split, one each; paths of missing files have no `.gz`.

    Raises:
        MissingData: no file of any release exists.
    """

    def find(name: str) -> str:
        path = os.path.join(directory, name)
        return path if os.path.isfile(path) else f"{path}.gz"

    paths_of = [{s: find(name) for s, name in r.items()} for r in releases]
    present = [sum(map(os.path.isfile, r.values())) for r in paths_of]
    best = present.index(max(present))
    if not present[best]:
        names = " nor ".join(", ".join(r.values()) for r in releases)
        raise MissingData(
            f"{corpus}: {directory} has not {names} (each may be packed, as "
            ".gz): the folder given by --manual_dir (or MTL_TF_MANUAL_DIR) "
            "must hold the corpus's official files"
        )
    return {
        split: [
            path
            if os.path.isfile(path)
            else os.path.join(directory, releases[best][split])
        ]
        for split, path in paths_of[best].items()
    }


class TaggedCorpusBuilder(CorpusBuilder, skip_registration=True):
    """Builds splits of tokens and their tags from files of columns.

    The configuration names the column that becomes the feature `tags`; the
    other columns are features under their own names. Each is a sequence of
    class labels with the labels of all splits: `O` first, if it occurs, then
    sorted.

    Attributes:
        COLUMNS: the numbers of the tag columns in the files, by name.
        TOKENS: the number of the token column.
        SPANS: the columns with span tags, which are written as IOB2.
        COUNTS: the known counts of the released file of each split.
    """

    VERSION = tfds.core.Version("1.0.0")
    COLUMNS: Mapping[str, int]
    TOKENS = 0
    SPANS: Sequence[str] = ()
    COUNTS: Mapping[str, Counts] = {}

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files, by file name."""
        paths = itertools.chain(*cls.files_of_splits(manual_dir).values())
        return {os.path.basename(path): path for path in paths}

    @classmethod
    def files_of_splits(cls, manual_dir: str) -> dict[str, list[str]]:
        """The paths of the official files of each split, mostly one.

        Raises:
            DataError: there is no such folder, or no release in it.
        """
        raise NotImplementedError

    def read(self, file: LineFile) -> Iterable[Sentence]:
        """The sentences of a file."""
        raise NotImplementedError

    def check(self, file: LineFile, examples: list[Example]) -> None:
        """Raises errors, or warns, about a file's examples."""

    def divide(
        self, parts: dict[str, list[Example]]
    ) -> dict[str, list[Example]]:
        """The splits of the build, made from those of the files."""
        return parts

    def _info(self) -> tfds.core.DatasetInfo:
        column = self.builder_config.name
        other_columns = [name for name in self.COLUMNS if name != column]
        sequence, label = tfds.features.Sequence, tfds.features.ClassLabel
        return self.described(
            {
                "tokens": sequence(tfds.features.Text()),
                "tags": sequence(label()),
                **{name: sequence(label()) for name in other_columns},
            },
            supervised=("tokens", "tags"),
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = self.files_of_splits(os.fspath(dl_manager.manual_dir))
        files = {
            s: list(map(LineFile, of_split)) for s, of_split in paths.items()
        }
        parts = {
            split: [
                row for file in of_split for row in self._examples(file, split)
            ]
            for split, of_split in files.items()
        }
        read = list(itertools.chain(*files.values()))
        splits = self.divide(parts)
        for feature, column_name in self._features().items():
            names = {
                tag
                for examples in splits.values()
                for example in examples
                for tag in example[column_name]
            }
            self.info.features[feature].feature.names = label_order(names)
        self.record_files(read)
        return self.generators(splits)

    def _features(self) -> dict[str, str]:
        """The column of every feature except the tokens."""
        column = self.builder_config.name
        return {
            "tags" if name == column else name: name for name in self.COLUMNS
        }

    def _examples(self, file: LineFile, split: str) -> list[Example]:
        file.lines[0] = file.lines[0].removeprefix("\ufeff")
        examples = []
        for sentence in self.read(file):
            columns = {
                name: column(file.path, sentence, place, name)
                for name, place in self.COLUMNS.items()
            }
            for name in self.SPANS:
                _check_spans(file, name, sentence, columns[name])
            tokens = column(file.path, sentence, self.TOKENS, "tokens")
            examples.append({"tokens": tokens, **columns})
        if not examples:
            raise DataError(f"{file.path}: there are no sentences")
        for name in self.SPANS:
            write_iob2(file, name, examples)
        self.check(file, examples)
        if split in self.COUNTS:
            report_counts(file, examples, self.COUNTS[split])
        return examples

    def _generate_examples(self, rows: list[Example]):
        features = self._features()
        for index, row in enumerate(rows):
            tags = {feature: row[name] for feature, name in features.items()}
            yield index, {"tokens": row["tokens"], **tags}


def _check_spans(
    file: LineFile, name: str, sentence: Sentence, tags: Sequence[str]
) -> None:
    for row, tag in zip(sentence, tags):
        if not span_schemes.is_span_tag(tag):
            raise DataError(
                f"{file.path}:{row.line}: {short(tag)} in the column {name}: "
                "it must be O, or B- or I- and a type"
            )


def report_counts(
    file: LineFile, examples: Sequence[Example], known: Counts
) -> None:
    """Warns if a file's numbers of sentences or tokens are unexpected."""
    tokens = sum(len(example["tokens"]) for example in examples)
    if (len(examples), tokens) != known:
        file.warn(
            f"{count(len(examples), 'sentence')} and {count(tokens, 'token')}; "
            f"the released file has {known.sentences:,} and {known.tokens:,}"
        )


def label_order(tags: Iterable[str]) -> list[str]:
    """Label names in their order: sorted, but `O` first."""
    return sorted(set(tags), key=lambda tag: (tag != span_schemes.OUTSIDE, tag))


def write_iob2(file: LineFile, name: str, examples: list[Example]) -> None:
    """Rewrites a column as IOB2; warns about tags in no scheme.

    By conlleval's rules, IOB1 and IOB2 give the same spans, so a release in
    either becomes the same build.

    Args:
        file: the file of the examples.
        name: the column's name.
        examples: the examples, which are changed in place.
    """
    before = [example[name] for example in examples]
    scheme = span_schemes.detect(before)
    changed = 0
    for example, tags in zip(examples, before):
        converted = span_schemes.convert(tags, scheme)
        changed += sum(a != b for a, b in zip(tags, converted))
        example[name] = span_schemes.convert(tags, "iob2")
    if changed:
        file.warn(
            f"{count(changed, name + ' tag')} not as {scheme} writes spans; "
            "read as conlleval reads them"
        )
