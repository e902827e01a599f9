"""Tagged sentences with tags as label ids."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.reading.span_tags import (
    BILOU,
    from_bilou,
    is_bilou,
    is_mostly_spans,
    odd_tags,
)
from mtl_tf.tasks.reading.tagged_readers import Reader, Tagged
from mtl_tf.tasks.source import Source, tell
from mtl_tf.text import span_schemes

#: Further values of an entry's `scheme`.
AUTO, WORDS = "auto", "none"


class TaggedSource(Source):
    """Sentences of tokens and tags, with tags in the scheme of training.

    Span tags are read as conlleval reads them and written anew. So none of them
    breaks the rules of the scheme, and a CRF that forbids what the scheme
    forbids can learn from all. Broken tags are counted in `warnings`.

    Args:
        reader: reads the sentences.
        scheme: the tagging scheme of spans: one of `span_schemes.SCHEMES`, or
            "bilou", which is read as IOBES with other letters. "none" for tags
            of words (parts of speech). "auto" detects the scheme; it refuses to
            treat tags as tags of words if most look like span tags.
        train_scheme: the scheme that tags are converted to; "" for IOB2 if the
            scheme is IOB1, else for the scheme itself.
        labels: the tags in order. The default is the tags that the reader
            lists, or else those of all `label_splits`, `O` first. Span tags are
            completed: every type has all letters of the scheme.
        label_splits: see `labels`.

    Attributes:
        scheme: the scheme that tags are converted to; "" for tags of words.
    """

    def __init__(
        self,
        reader: Reader,
        scheme: str = AUTO,
        train_scheme: str = "",
        labels: Sequence[str] | None = None,
        label_splits: Sequence[str] = ("train",),
    ):
        super().__init__()
        self.warnings = reader.warnings
        self._reader = reader
        self._given_scheme = scheme
        self._train_scheme = train_scheme
        self._given_labels = tuple(labels) if labels is not None else None
        self._label_splits = tuple(label_splits)
        self._splits: dict[str, dict[str, tf.RaggedTensor]] = {}

    @functools.cached_property
    def scheme(self) -> str:
        """How the labels write spans; "" for tags of single words."""
        stated = "iobes" if self._given_scheme == BILOU else self._given_scheme
        if stated == AUTO:
            if not span_schemes.are_span_tags(self._data_tags):
                stated = WORDS
            else:
                whole = {tag[0] for tag in self._data_tags}
                stated = "iobes" if whole & {"E", "S"} else "iob2"
        if stated == WORDS:
            if self._train_scheme:
                raise ConfigError(
                    f"train_scheme is {self._train_scheme!r}, but the tags "
                    "are not those of spans"
                )
            return ""
        return self._train_scheme or stated.replace("iob1", "iob2")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the tags."""
        if not self.scheme:
            return self._data_tags
        types = span_schemes.types_of(self._data_tags)
        whole = span_schemes.tag_set(types, self.scheme)
        return self._data_tags if set(self._data_tags) == set(whole) else whole

    @functools.cached_property
    def _data_tags(self) -> tuple[str, ...]:
        """The tags in the data, with BILOU read as IOBES."""
        declared = self._given_labels or self._reader.class_names
        if declared is not None:
            (names,) = self._as_iobes([declared])
            counts = dict.fromkeys(names, 1)
        else:
            counts = Counter(
                tag
                for split in self._label_splits
                for sentence in self._sentences(split)
                for tag in sentence.tags
            )
            if not counts:
                raise ConfigError(
                    "no sentence has a token: there is nothing to learn"
                )
            outside = span_schemes.OUTSIDE
            names = sorted(counts, key=lambda tag: (tag != outside, tag))
        odd = odd_tags(names)
        if odd:
            prefix, tag = ("", odd[0]) if declared else self._first(odd)
            self._complain(prefix, tag, counts)
        return tuple(names)

    def _first(self, odd: Sequence[str]) -> tuple[str, str]:
        """The place of the first of some tags, and that tag."""
        return next(
            (f"{self._reader.place(split, number, place)}: ", tag)
            for split in self._label_splits
            for number, sentence in enumerate(self._sentences(split))
            for place, tag in enumerate(sentence.tags)
            if tag in odd
        )

    def _complain(
        self, prefix: str, odd: str, counts: Mapping[str, int]
    ) -> None:
        """Raises an error for a tag that should be a span tag and is not."""
        if self._given_scheme in (*span_schemes.SCHEMES, BILOU):
            raise ConfigError(
                f"{prefix}scheme is {self._given_scheme!r}, but the tag "
                f"{odd!r} is no tag of a span; for tags of words set it to "
                "'none', for the letters B, I, L, O and U to 'bilou'"
            )
        if self._given_scheme == AUTO and is_mostly_spans(counts):
            raise DataError(
                f"{prefix}the tag {odd!r} is no tag of a span (O, or B-, I-, "
                "E-, S- and a type), but most of the others are: correct it, "
                "or set scheme to 'none' if they are tags of words"
            )

    def _sentences(self, split: str) -> list[Tagged]:
        """The sentences of a split, with BILOU tags as IOBES."""
        sentences = self._reader.sentences(split)
        tags = self._as_iobes([sentence.tags for sentence in sentences])
        return [
            sentence._replace(tags=row)
            for sentence, row in zip(sentences, tags)
        ]

    def _as_iobes(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        read = self._given_scheme == BILOU
        if self._given_scheme == AUTO:
            read = is_bilou(Counter(tag for row in rows for tag in row))
        return [[from_bilou(t) if read else t for t in row] for row in rows]

    @property
    def split_names(self) -> tuple[str, ...]:
        """The reader's splits."""
        return self._reader.split_names

    def size(self, split: str) -> int:
        """Returns how many sentences `split` has."""
        return self._reader.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns `{"tokens": string [n], "tags": int64 [n]}`, in order."""
        if split not in self._splits:
            self._splits[split] = self._numbers(split)
        return tf.data.Dataset.from_tensor_slices(self._splits[split])

    def _numbers(self, split: str) -> dict[str, tf.RaggedTensor]:
        sentences = self._sentences(split)
        tags = [sentence.tags for sentence in sentences]
        for number, sentence in enumerate(sentences):
            self._check_tags(split, number, sentence)
        if split == "train":
            self._warn_of_one_tag(tags)
        if self.scheme:
            tags = self._converted(split, tags)
        ids = {label: i for i, label in enumerate(self.labels)}
        # JSON can contain halves of surrogate pairs, which UTF-8 lacks.
        tokens = [
            token.encode("utf-8", "replace")
            for sentence in sentences
            for token in sentence.tokens
        ]
        numbers = [ids[tag] for row in tags for tag in row]
        lengths = np.array([len(row) for row in tags], np.int64)
        values = {
            "tokens": tf.constant(tokens, tf.string, shape=[len(tokens)]),
            "tags": np.array(numbers, np.int64),
        }
        return {
            key: tf.RaggedTensor.from_row_lengths(value, lengths)
            for key, value in values.items()
        }

    def _check_tags(self, split: str, number: int, sentence: Tagged) -> None:
        for position, tag in enumerate(sentence.tags):
            if tag not in self._known:
                location = self._reader.place(split, number, position)
                raise DataError(
                    f"{location}: unknown tag {tag!r}; "
                    f"{hint(tag, self._data_tags)}"
                )

    def _warn_of_one_tag(self, tags: Sequence[Sequence[str]]) -> None:
        """Warns if there is nothing to learn, as of another column's words."""
        counts = Counter(tag for row in tags for tag in row)
        if len(counts) == 1:
            ((tag, count),) = counts.items()
            warning = f"all {count:,} training tokens have the tag {tag!r}"
            tell(warning)
            self.warnings.append(warning)

    @functools.cached_property
    def _known(self) -> set[str]:
        """The tags that may occur in the data."""
        if not self.scheme:
            return set(self._data_tags)
        types = span_schemes.types_of(self._data_tags)
        return set(span_schemes.tag_set(types, "iobes"))

    def _converted(
        self, split: str, tags: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        before = "iobes" if self._given_scheme == BILOU else self._given_scheme
        if before == AUTO:
            before = span_schemes.detect(tags)
        broken = [
            (number, place)
            for number, row in enumerate(tags)
            for place, (a, b) in enumerate(
                zip(row, span_schemes.convert(row, before))
            )
            if a != b
        ]
        if broken:
            warning = (
                f"{len(broken)} tags that {before} does not allow, read as "
                "conlleval reads them (first: "
                f"{self._reader.place(split, *broken[0])})"
            )
            tell(warning)
            self.warnings.append(warning)
        return [span_schemes.convert(row, self.scheme) for row in tags]
