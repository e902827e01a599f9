"""Encodes declared features for models with a pretrained encoder."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.examples.text_examples import (
    Examples,
    Ragged,
    TextExamples,
)
from mtl_tf.tasks.features import WORDS, Feature
from mtl_tf.text.encoding import pieces
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.pieces import PieceEncoder
from mtl_tf.text.encoding.token_columns import TokenColumn
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer

#: The time axis of pieces, in runs that also have an axis of words.
PIECES = "pieces"


class PieceExamples(Examples):
    """Turns examples into pieces of a pretrained encoder.

    The column "tokens" has the pieces; see `Examples`. If a run has tasks on
    words, the column "words" has the index of each word's first piece, and the
    pieces have their own time axis.

    Args:
        encoder: converts texts to pieces.
        features: the task's features.
    """

    encoder: PieceEncoder

    def _token_column(self, texts: Sequence[str]) -> TokenColumn:
        encoder, specials = self.encoder, self.encoder.specials
        around = (specials.start, specials.separator, specials.end)
        return TokenColumn(
            texts,
            encoder.pieces,
            encoder.unknown,
            lambda examples, name: encoder.written(examples[name]),
            encoder.max_length,
            tuple(map(len, around)),
        )

    def _string_axes(self) -> dict[str, str]:
        axes = {}
        for axis in self._strings:
            first = not self._prefix(axis)
            if first and self.encoder.reads_words:
                axes["words"] = axis
                axes["tokens"] = PIECES
            else:
                axes[f"{self._prefix(axis)}tokens"] = axis
        return axes

    def _string_columns(self, batch: Mapping[str, tf.Tensor]) -> Ragged:
        columns = super()._string_columns(batch)
        if not self.encoder.reads_words:
            columns.pop("words", None)
        elif "words" not in columns:
            columns = {"words": columns["tokens"][:, :0], **columns}
        return columns

    def _encoded(
        self, features: Sequence[Feature], batch: Mapping[str, tf.Tensor]
    ) -> Ragged:
        first = features[0]
        if first.element == WORDS:
            return self.encoder.of_words(batch[first.name])
        texts = [batch[feature.name] for feature in features]
        return {"tokens": self.encoder.packed(texts)}


def examples_of(
    encoder: TextEncoder | PieceEncoder, features: Sequence[Feature]
) -> TextExamples | PieceExamples:
    """The converter of examples to a model's inputs.

    Args:
        encoder: the run's encoder.
        features: the task's features.
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
        text_config: `tokenizer`, which splits into words for tasks on words,
            and `max_length`.
        preset: see `mtl_tf.text.pretrained.presets`.

    Raises:
        MtlError: a wrong field, or the preset cannot be read.
    """
    length = checks.not_negative_integer(
        "text.max_length", text_config["max_length"]
    )
    has_words = any(
        feature.element == WORDS for task in tasks for feature in task.features
    )
    name = text_config["tokenizer"]["name"]
    if not has_words and name != "whitespace":
        raise ConfigError(
            "text.tokenizer must stay as it is where model.encoder has a "
            f"tokenizer of its own and no task has words, got {name!r}"
        )
    words = make_tokenizer(dict(text_config["tokenizer"].items()))
    return pieces.of_preset(preset, words, length, has_words)
