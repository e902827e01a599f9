"""What models with a pretrained encoder read of a task's declared features."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.text_examples import Ragged, TextExamples, time_axes
from mtl_tf.tasks.features import WORDS, Feature
from mtl_tf.text import pieces
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.pieces import PieceEncoder
from mtl_tf.text.tokenizers import make_tokenizer

#: The time axis of pieces in runs that have words on an axis, too.
PIECES = "pieces"


class PieceExamples:
    """Turns examples of a task into pieces of a pretrained encoder.

    "tokens" are the pieces of the first time axis; those of another axis
    have its name before them. Where a run has tasks of words, "words" says
    where the first piece of each word stands, and the pieces have a time axis
    of their own. Features that are numbers keep their names.

    Args:
        encoder: texts to pieces.
        features: of the task.

    Attributes:
        encoder: see above.
    """

    def __init__(self, encoder: PieceEncoder, features: Sequence[Feature]):
        self.encoder = encoder
        self._features = tuple(features)
        self._strings = time_axes(features)

    @property
    def axes(self) -> dict[str, str]:
        """The time axis of each column, "" of those without."""
        found = {}
        for axis in self._strings:
            first = not self._prefix(axis)
            if first and self.encoder.reads_words:
                found["words"] = axis
                found["tokens"] = PIECES
            else:
                found[f"{self._prefix(axis)}tokens"] = axis
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
            The columns by name: int32 [n, T].
        """
        found = {}
        for axis, features in self._strings.items():
            prefix = self._prefix(axis)
            for part, value in self._encoded(features, batch).items():
                found[f"{prefix}{part}"] = value
        if not self.encoder.reads_words:
            found.pop("words", None)
        elif "words" not in found:
            empty = found["tokens"][:, :0]
            found = {"words": empty, **found}
        for feature in self._features:
            if not feature.is_string and feature.name in batch:
                value = batch[feature.name]
                if feature.time and self.encoder.max_length:
                    value = value[:, : self.encoder.max_length]
                found[feature.name] = value
        return found

    def _encoded(
        self, features: Sequence[Feature], batch: Mapping[str, tf.Tensor]
    ) -> Ragged:
        """The strings of one time axis."""
        first = features[0]
        if first.element == WORDS:
            return self.encoder.of_words(batch[first.name])
        texts = [batch[feature.name] for feature in features]
        return {"tokens": self.encoder.packed(texts)}


def examples_of(
    encoder: TextEncoder | PieceEncoder, features: Sequence[Feature]
) -> TextExamples | PieceExamples:
    """What turns examples into what a model reads of them.

    Args:
        encoder: of the run.
        features: of a task.
    """
    if isinstance(encoder, PieceEncoder):
        return PieceExamples(encoder, features)
    return TextExamples(encoder, features)


def build_encoder(
    tasks: Iterable[Any], text_config: Mapping[str, Any], preset: str
) -> PieceEncoder:
    """The encoder of tasks' texts for a pretrained encoder.

    Args:
        tasks: `Task` objects.
        text_config: `tokenizer`, which finds the words of tasks that have
            some, and `max_length`.
        preset: see `mtl_tf.text.presets`.

    Raises:
        MtlError: a wrong field, or the preset cannot be read.
    """
    length = checks.not_negative_integer(
        "text.max_length", text_config["max_length"]
    )
    has_words = any(
        one.element == WORDS for task in tasks for one in task.features
    )
    name = text_config["tokenizer"]["name"]
    if not has_words and name != "whitespace":
        raise ConfigError(
            "text.tokenizer must stay as it is where model.encoder has a "
            f"tokenizer of its own and no task has words, got {name!r}"
        )
    words = make_tokenizer(dict(text_config["tokenizer"].items()))
    return pieces.of_preset(preset, words, length, has_words)
