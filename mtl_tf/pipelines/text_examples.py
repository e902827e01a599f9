"""What models with a sharing scheme read of a task's declared features."""

from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf

from mtl_tf.tasks.features import WORDS, Feature
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.joining import joined

Ragged = dict[str, tf.Tensor | tf.RaggedTensor]


def time_axes(features: Iterable[Feature]) -> dict[str, list[Feature]]:
    """The features made of strings, by their time axis."""
    found: dict[str, list[Feature]] = {}
    for feature in features:
        if feature.is_string:
            found.setdefault(feature.time, []).append(feature)
    return found


class TextExamples:
    """Turns examples of a task into numbers.

    The columns of the first time axis are what a `TextEncoder` gives:
    "tokens", and maybe "characters" and "casing"; those of another axis have
    its name before them, such as "text_pair_tokens". Features that are
    numbers keep their names; on a time axis they are cut as the tokens are.

    Args:
        encoder: texts to ids.
        features: of the task.

    Attributes:
        encoder: see above.
    """

    def __init__(self, encoder: TextEncoder, features: Sequence[Feature]):
        self.encoder = encoder
        self._features = tuple(features)
        self._strings = time_axes(features)

    @property
    def axes(self) -> dict[str, str]:
        """The time axis of each column, "" of those without."""
        found = {}
        for axis in self._strings:
            for part in self.encoder.parts:
                found[f"{self._prefix(axis)}{part}"] = axis
        numbers = (one for one in self._features if not one.is_string)
        return found | {one.name: one.time for one in numbers}

    def _prefix(self, axis: str) -> str:
        return "" if axis == next(iter(self._strings)) else f"{axis}_"

    def __call__(self, batch: Mapping[str, tf.Tensor]) -> Ragged:
        """Encodes a batch of examples.

        Args:
            batch: the features that are strings, [n] or ragged [n, None], and
                as many of the others as there are.

        Returns:
            The columns by name: int32 [n, T], of characters [n, T, W].
        """
        found = {
            f"{self._prefix(axis)}{part}": value
            for axis, features in self._strings.items()
            for part, value in self._encoded(features, batch).items()
        }
        for feature in self._features:
            if not feature.is_string and feature.name in batch:
                value = batch[feature.name]
                if feature.time and self.encoder.max_length:
                    value = value[:, : self.encoder.max_length]
                found[feature.name] = value
        return found

    def _encoded(
        self, features: Sequence[Feature], batch: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.RaggedTensor]:
        """The strings of one time axis."""
        parts = [
            self.encoder.of_words(batch[one.name])
            if one.element == WORDS
            else self.encoder.of_texts(batch[one.name])
            for one in features
        ]
        found = joined(parts, self.encoder.separator, self.encoder.max_length)
        # There are many of these: they are as small as they can be.
        if "characters" in found:
            dtype = self.encoder.characters.dtype
            found["characters"] = tf.cast(found["characters"], dtype)
        if "casing" in found:
            found["casing"] = tf.cast(found["casing"], tf.uint8)
        return found
