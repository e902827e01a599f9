"""Encodes declared features for models with a sharing scheme."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.tasks.features import WORDS, Feature
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.token_columns import TokenColumn
from mtl_tf.text.tokenizers.joining import joined

Ragged = dict[str, tf.Tensor | tf.RaggedTensor]


def time_axes(features: Iterable[Feature]) -> dict[str, list[Feature]]:
    """The string features, by their time axis."""
    by_axis: dict[str, list[Feature]] = {}
    for feature in features:
        if feature.is_string:
            by_axis.setdefault(feature.time, []).append(feature)
    return by_axis


class Examples:
    """Turns examples of a task into numbers: the base for all encoders.

    A subclass makes the columns of string features. Columns on the first time
    axis have plain names; those on another axis have its name as a prefix, such
    as "text_pair_tokens". Numeric features keep their names; on a time axis
    they are cut as the tokens are.

    Args:
        encoder: converts texts to numbers.
        features: the task's features.

    Attributes:
        encoder: see above.
    """

    def __init__(self, encoder: Any, features: Sequence[Feature]):
        self.encoder = encoder
        self._features = tuple(features)
        self._strings = time_axes(features)

    @property
    def axes(self) -> dict[str, str]:
        """The time axis of each column, "" for columns without one."""
        numbers = (
            feature for feature in self._features if not feature.is_string
        )
        return self._string_axes() | {
            feature.name: feature.time for feature in numbers
        }

    def __call__(self, batch: Mapping[str, tf.Tensor]) -> Ragged:
        """Encodes a batch of examples.

        Args:
            batch: the string features, [n] or ragged [n, None], and any of the
                other features.

        Returns:
            The columns by name: int32 [n, T], for characters [n, T, W].
        """
        columns = self._string_columns(batch)
        for feature in self._features:
            if not feature.is_string and feature.name in batch:
                value = batch[feature.name]
                if feature.time and self.encoder.max_length:
                    value = value[:, : self.encoder.max_length]
                columns[feature.name] = value
        return columns

    def token_columns(self) -> dict[str, TokenColumn]:
        """See `ExampleEncoder.token_columns`."""
        return {
            f"{self._prefix(axis)}tokens": self._token_column(
                [feature.name for feature in features]
            )
            for axis, features in self._strings.items()
        }

    def _token_column(self, texts: Sequence[str]) -> TokenColumn:
        """What the ids of texts on one time axis stand for."""
        raise NotImplementedError

    def _string_axes(self) -> dict[str, str]:
        """The time axis of each string column."""
        raise NotImplementedError

    def _string_columns(self, batch: Mapping[str, tf.Tensor]) -> Ragged:
        """The string columns by name."""
        return {
            f"{self._prefix(axis)}{part}": value
            for axis, features in self._strings.items()
            for part, value in self._encoded(features, batch).items()
        }

    def _prefix(self, axis: str) -> str:
        return "" if axis == next(iter(self._strings)) else f"{axis}_"

    def _encoded(
        self, features: Sequence[Feature], batch: Mapping[str, tf.Tensor]
    ) -> Ragged:
        """The columns of the strings on one time axis."""
        raise NotImplementedError


class TextExamples(Examples):
    """Turns examples into word ids of a `TextEncoder`.

    The columns are "tokens", and optionally "characters" and "casing"; see
    `Examples`.

    Args:
        encoder: converts texts to ids.
        features: the task's features.
    """

    encoder: TextEncoder

    def _token_column(self, texts: Sequence[str]) -> TokenColumn:
        encoder = self.encoder
        return TokenColumn(
            texts,
            encoder.vocabulary.tokens,
            encoder.vocabulary.OOV,
            lambda examples, name: encoder.written(examples[name]),
            encoder.max_length,
        )

    def _string_axes(self) -> dict[str, str]:
        return {
            f"{self._prefix(axis)}{part}": axis
            for axis in self._strings
            for part in self.encoder.parts
        }

    def _encoded(
        self, features: Sequence[Feature], batch: Mapping[str, tf.Tensor]
    ) -> Ragged:
        parts = [
            self.encoder.of_words(batch[feature.name])
            if feature.element == WORDS
            else self.encoder.of_texts(batch[feature.name])
            for feature in features
        ]
        encoded = joined(parts, self.encoder.separator, self.encoder.max_length)
        # The smallest integer type, as there are many characters.
        if "characters" in encoded:
            dtype = self.encoder.characters.dtype
            encoded["characters"] = tf.cast(encoded["characters"], dtype)
        if "casing" in encoded:
            encoded["casing"] = tf.cast(encoded["casing"], tf.uint8)
        return encoded
