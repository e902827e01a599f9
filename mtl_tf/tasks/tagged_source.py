"""Tagged sentences as numbers."""

import functools
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint
from mtl_tf.tasks.tagged_readers import Reader, Tagged
from mtl_tf.tasks.task import Source
from mtl_tf.text import span_schemes

#: What an entry may call the scheme of its data.
AUTO, WORDS = "auto", "none"


class TaggedSource(Source):
    """Sentences of tokens and tags, with tags in the scheme of training.

    Tags of spans are read as conlleval reads them and written anew, so none of
    them breaks the rules of the scheme: a CRF that forbids what the scheme
    forbids can learn from all. What was broken is counted in `warnings`.

    Args:
        reader: gives the sentences.
        scheme: how spans are tagged: one of `span_schemes.SCHEMES`; "none"
            where tags are of words (parts of speech); "auto" looks at them.
        train_scheme: what the tags are converted to; "" for IOB2 where the
            scheme is IOB1, else for the scheme itself.
        labels: the tags in their order. None takes those that the reader
            lists, or else those of all of `label_splits`, `O` first. The tags
            of spans are completed: every type has all letters of the scheme.
        label_splits: see `labels`.

    Attributes:
        scheme: what the tags are converted to; "" for tags of words.
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
        self._stated = scheme
        self._train_scheme = train_scheme
        self._given = tuple(labels) if labels is not None else None
        self._label_splits = tuple(label_splits)
        self._splits: dict[str, dict[str, tf.RaggedTensor]] = {}

    @functools.cached_property
    def scheme(self) -> str:
        """How the labels write spans; "" for tags of words."""
        stated = self._stated
        if stated == AUTO:
            if not span_schemes.are_span_tags(self._found):
                stated = WORDS
            else:
                whole = {tag[0] for tag in self._found}
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
        """Names of the tags."""
        if not self.scheme:
            return self._found
        types = span_schemes.types_of(self._found)
        whole = span_schemes.tag_set(types, self.scheme)
        return self._found if set(self._found) == set(whole) else whole

    @functools.cached_property
    def _found(self) -> tuple[str, ...]:
        """The tags as they are in the data."""
        names = self._given or self._reader.class_names
        if names is None:
            found = {
                tag
                for split in self._label_splits
                for sentence in self._reader.sentences(split)
                for tag in sentence.tags
            }
            outside = span_schemes.OUTSIDE
            names = sorted(found, key=lambda tag: (tag != outside, tag))
        if self._stated in span_schemes.SCHEMES:
            for name in names:
                if not span_schemes.is_span_tag(name):
                    raise ConfigError(
                        f"scheme is {self._stated!r}, but the tag {name!r} is "
                        "no tag of a span; for tags of words set it to 'none'"
                    )
        return tuple(names)

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
        sentences = self._reader.sentences(split)
        tags = [sentence.tags for sentence in sentences]
        for number, sentence in enumerate(sentences):
            self._check_tags(split, number, sentence)
        if self.scheme:
            tags = self._converted(split, tags)
        ids = {label: i for i, label in enumerate(self.labels)}
        # JSON can spell halves of surrogate pairs, which UTF-8 cannot.
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
        for place, tag in enumerate(sentence.tags):
            if tag not in self._known:
                where = self._reader.place(split, number, place)
                raise DataError(
                    f"{where}: unknown tag {tag!r}; {hint(tag, self._found)}"
                )

    @functools.cached_property
    def _known(self) -> set[str]:
        """The tags that may stand in the data."""
        if not self.scheme:
            return set(self._found)
        types = span_schemes.types_of(self._found)
        return set(span_schemes.tag_set(types, "iobes"))

    def _converted(
        self, split: str, tags: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        before = self._stated
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
                f"{len(broken)} tags not as {before} writes spans, read as "
                "conlleval reads them (first: "
                f"{self._reader.place(split, *broken[0])})"
            )
            logging.warning("%s", warning)
            self.warnings.append(warning)
        return [span_schemes.convert(row, self.scheme) for row in tags]
