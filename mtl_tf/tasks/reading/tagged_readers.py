"""Sentences of tokens and tags, from the user's files and TFDS datasets."""

import abc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from mtl_tf.core import surrogates
from mtl_tf.core.columns import column_value, has_column, keys_beside
from mtl_tf.core.errors import DataError
from mtl_tf.core.names import look_up
from mtl_tf.datasets.column_files import (
    CONLLU_COLUMNS,
    Sentence,
    column,
    may_vary,
    read_conllu,
    read_sentences,
)
from mtl_tf.datasets.lines import count, short
from mtl_tf.datasets.sources import check_text
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.prepared import (
    LABEL_DTYPES,
    FeatureRequest,
    PreparedDataset,
    class_names,
)
from mtl_tf.tasks.reading import bracketed_spans, given_rows
from mtl_tf.tasks.reading.file_records import (
    LINE,
    Odd,
    Place,
    json_objects,
    lines_of,
)
from mtl_tf.tasks.reading.layouts import Column
from mtl_tf.tasks.reading.row_files import check_widths
from mtl_tf.tasks.source import tell

FORMATS = ("conll", "conllu", "jsonl")
# Nobody writes longer sentences; blank lines are missing then.
_LONG = 500


class Tagged(NamedTuple):
    """A sentence; `lines` has the line number of each token in the file `path`.

    In a file without lines, the numbers count its `unit`.
    """

    tokens: list[str]
    tags: list[str]
    lines: Sequence[int]
    path: str = ""
    unit: str = LINE


class TagLayout(NamedTuple):
    """The layout of a file of tagged sentences.

    Attributes:
        format: "conll" (columns), "conllu" or "jsonl" (two lists a line).
        tokens, tags: column numbers, from 0, or negative from the last; or
            names of columns (conllu) or keys (jsonl).
        separator: separates columns; "" for spaces and tabs.
        comment: the prefix of lines that are skipped; "" for none.
    """

    format: str
    tokens: Column
    tags: Column
    separator: str = ""
    comment: str = ""


class Reader(abc.ABC):
    """Reads the sentences of splits.

    Attributes:
        warnings: the warnings so far.
    """

    def __init__(self):
        self.warnings: list[str] = []

    @property
    @abc.abstractmethod
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits."""

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The tags, if the source itself lists them; else None."""
        return None

    @abc.abstractmethod
    def size(self, split: str) -> int:
        """The number of sentences of a split."""

    @abc.abstractmethod
    def sentences(self, split: str) -> list[Tagged]:
        """The sentences of a split, in order."""

    @abc.abstractmethod
    def place(self, split: str, number: int, token: int) -> str:
        """The location of a token of sentence `number`, for messages."""


class FileReader(Reader):
    """Reads each split from files, compressed if named `.gz`.

    Args:
        paths: the files of each split.
        layouts: the layouts of each split's files.
    """

    def __init__(
        self,
        paths: Mapping[str, Sequence[str]],
        layouts: Mapping[str, TagLayout],
    ):
        super().__init__()
        self._paths = {split: tuple(files) for split, files in paths.items()}
        self._layouts = dict(layouts)
        self._read: dict[str, list[Tagged]] = {}

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have files."""
        return tuple(self._paths)

    def size(self, split: str) -> int:
        """The number of sentences in the split's files."""
        return len(self.sentences(split))

    def sentences(self, split: str) -> list[Tagged]:
        """The sentences of the split's files."""
        if split not in self._read:
            paths = look_up(split, self._paths, "split")
            layout = self._layouts[split]
            sentences: list[Tagged] = []
            first_width = 0
            for path in paths:
                undecodable: list[int] = []
                of_file, width = _read(path, layout, undecodable.append)
                first_width = first_width or width
                check_widths(paths[0], first_width, path, width)
                sentences += of_file
                self._warn_of_lines(path, undecodable)
                self._warn_of_one_sentence(path, of_file)
            self._read[split] = sentences
        return self._read[split]

    def _warn_of_lines(self, path: str, undecodable: Sequence[int]) -> None:
        if undecodable:
            self._warn(
                f"{path}: {len(undecodable)} lines not UTF-8, read as "
                f"Latin-1 (first: line {undecodable[0]})"
            )

    def _warn_of_one_sentence(
        self, path: str, sentences: Sequence[Tagged]
    ) -> None:
        count = len(sentences[0].tokens)
        if len(sentences) == 1 and count >= _LONG:
            self._warn(
                f"{path}: its {count:,} tokens are one sentence: a blank line "
                "has to follow each sentence"
            )

    def _warn(self, warning: str) -> None:
        tell(warning)
        self.warnings.append(warning)

    def place(self, split: str, number: int, token: int) -> str:
        """The file and line of a token, or the row of given examples."""
        sentence = self._read[split][number]
        path, line = sentence.path, sentence.lines[token]
        return given_rows.named(str(Place(path, line, sentence.unit)), [path])


class DatasetReader(Reader):
    """Reads two sequence features of a TFDS dataset.

    Args:
        name: the dataset's name.
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        tokens, tags: the features' names.
    """

    def __init__(
        self,
        name: str,
        data_dir: str = "",
        manual_dir: str = "",
        tokens: str = "tokens",
        tags: str = "tags",
    ):
        super().__init__()
        requests = (
            FeatureRequest(
                "tokens", tokens, (tf.string,), 1, "a sequence of tokens"
            ),
            FeatureRequest("tags", tags, LABEL_DTYPES, 1, "a sequence of tags"),
        )
        self._tokens, self._tags = tokens, tags
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, requests, self.warnings
        )

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The names of a ClassLabel's classes."""
        feature = self._dataset.feature(self._tags)
        return class_names(getattr(feature, "feature", feature))

    def size(self, split: str) -> int:
        """The number of examples of a split or a slice of one."""
        return self._dataset.size(split)

    def sentences(self, split: str) -> list[Tagged]:
        """The examples of a split or a slice of one."""
        names = self.class_names
        sentences = []
        batches = batched(self._dataset.examples(split))
        for batch in batches:
            for tokens, tags in zip(
                batch[self._tokens].to_list(), batch[self._tags].to_list()
            ):
                location = self.place(split, len(sentences), 0)
                _same_length(location, tokens, tags)
                sentences.append(
                    Tagged(
                        [_plain(token) for token in tokens],
                        [_named(location, tag, names) for tag in tags],
                        (),
                    )
                )
        return sentences

    def place(self, split: str, number: int, token: int) -> str:
        """The dataset, split and number of an example."""
        return f"dataset {self._dataset.name}, split {split}, example {number}"


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(int(value))


def _named(location: str, tag: Any, names: Sequence[str] | None) -> str:
    if names is None:
        return _plain(tag)
    if tag < 0:
        raise DataError(f"{location}: a token without a tag (-1)")
    return names[tag]


def _same_length(location: str, tokens: Sequence, tags: Sequence) -> None:
    if len(tokens) != len(tags):
        raise DataError(
            f"{location}: {len(tokens)} tokens, but {len(tags)} tags"
        )


def _of_columns(
    path: str, sentences: Iterator[Sentence], tokens: int, tags: int
) -> Iterator[Tagged]:
    for rows in sentences:
        # Counted from both ends, the two may be the same in a short row.
        for row in rows if (tokens < 0) != (tags < 0) else ():
            width = len(row.cells)
            if tokens % width == tags % width:
                raise DataError(
                    f"{path}:{row.line}: of {count(width, 'column')} the token "
                    "and the tag would be the same one: check separator and "
                    f"columns, in {short(' '.join(row.cells))}"
                )
        yield Tagged(
            column(path, rows, tokens, "tokens"),
            column(path, rows, tags, "tags"),
            [row.line for row in rows],
            path,
        )


def _read(path: str, layout: TagLayout, odd: Odd) -> tuple[list[Tagged], int]:
    """The sentences of a file, and how many columns it has, as `_width`.

    Raises:
        DataError: it cannot be read, has a wrong line or no sentence.
    """
    check_text(path)
    if layout.format == "jsonl":
        lines, sentences = [], list(_from_json(path, layout, odd))
    else:
        lines = list(lines_of(path, odd))
        sentences = list(_OF_LINES[layout.format](path, lines, layout))
    if layout.format == "conll":
        sentences = _without_brackets(path, sentences)
    if not sentences:
        raise DataError(f"{path} is empty: it has no sentences")
    return sentences, _width(path, lines, layout)


def _without_brackets(path: str, sentences: list[Tagged]) -> list[Tagged]:
    """The sentences, in IOB2 if all tags of the file are spans in brackets."""
    if not all(bracketed_spans.is_bracketed(s.tags) for s in sentences):
        return sentences
    return [
        s._replace(tags=bracketed_spans.to_iob2(path, s.lines, s.tags))
        for s in sentences
    ]


def _width(path: str, lines: Sequence[str], layout: TagLayout) -> int:
    """The number of columns of a file; 0 if it is fixed or may vary."""
    if layout.format != "conll" or may_vary((layout.tokens, layout.tags)):
        return 0
    sentences = read_sentences(path, lines, layout.separator, layout.comment)
    return len(next(sentences)[0].cells)


def _from_conll(
    path: str, lines: Sequence[str], layout: TagLayout
) -> Iterator[Tagged]:
    wanted = (layout.tokens, layout.tags)
    sentences = read_sentences(
        path, lines, layout.separator, layout.comment, wanted=wanted
    )
    return _of_columns(path, sentences, *wanted)


def _from_conllu(
    path: str, lines: Sequence[str], layout: TagLayout
) -> Iterator[Tagged]:
    numbers = [
        CONLLU_COLUMNS.index(column) if isinstance(column, str) else column
        for column in (layout.tokens, layout.tags)
    ]
    return _of_columns(path, read_conllu(path, lines), *numbers)


def _from_json(path: str, layout: TagLayout, odd: Odd) -> Iterator[Tagged]:
    for place, value in json_objects(path, odd):
        location = str(place)
        tokens = _json_strings(location, value, layout.tokens, (str,))
        tags = _json_strings(location, value, layout.tags, (str, int))
        tags = [tag.strip(" \t") for tag in tags]
        for tag in tags:
            if half := surrogates.first_half(tag):
                rule = surrogates.rule(half)
                raise DataError(f"{location}: in the tag {tag!r}, {rule}")
        _same_length(location, tokens, tags)
        numbers = [place.number] * len(tokens)
        yield Tagged(tokens, tags, numbers, path, place.unit)


def _json_strings(
    location: str, value: Mapping[str, Any], key: str, types: tuple[type, ...]
) -> list[str]:
    if not has_column(value, key):
        raise DataError(
            f"{location}: no key {key!r}; {keys_beside(value, key)}"
        )
    items = column_value(value, key)
    is_valid = isinstance(items, list) and all(
        isinstance(item, types) and not isinstance(item, bool) and item != ""
        for item in items
    )
    if not is_valid:
        raise DataError(
            f"{location}: {key!r} must be a list of strings that are not "
            f"empty, found {items!r:.60}"
        )
    return [str(item) for item in items]


_OF_LINES = {"conll": _from_conll, "conllu": _from_conllu}
