"""The texts of one source language and any number of target languages."""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.token_columns import TokenColumn

#: Folder of the source language's files, next to those of the targets.
SOURCE = "source"
#: The other side of a pair, and the name of the column with its ids.
TARGET = "target"


def languages_of(pair: str) -> tuple[str, str]:
    """The source and the target language of a pair such as "en-de".

    Raises:
        ConfigError: the name is not that of a pair.
    """
    source, _, target = pair.partition("-")
    if target == SOURCE:
        raise ConfigError(
            f"the task {pair!r}: no target language can be called {SOURCE!r}, "
            "which is the folder of the source's vocabulary; name the task "
            "by its languages, such as 'en-de'"
        )
    if not source or not target:
        raise ConfigError(
            "a translation task is named by its languages, source-target, "
            f"such as 'en-de', got {pair!r}"
        )
    return source, target


def without_region(language: str) -> str:
    """The language without its region, as in sacrebleu: "zh" for "zh-CN"."""
    return re.split("[-_]", language)[0].lower()


def source_of(pairs: Iterable[str]) -> str:
    """The source language of all pairs of a run.

    Raises:
        ConfigError: there are several.
    """
    pairs = list(pairs)
    sources = {languages_of(pair)[0]: pair for pair in reversed(pairs)}
    if len(sources) != 1:
        raise ConfigError(
            "all translation tasks of a run have one source language, got "
            + " and ".join(sorted(sources.values()))
        )
    return next(iter(sources))


class PairEncoder:
    """Turns pairs of texts into ids.

    Args:
        source: encoder of the source language.
        target: encoder of the target language, with the specials `BOUNDS`.
    """

    def __init__(self, source: TextEncoder, target: TextEncoder):
        self.source = source
        self.target = target

    #: The time axis of each column.
    axes = {"tokens": SOURCE, TARGET: TARGET}

    def __call__(
        self, pairs: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.RaggedTensor]:
        """Returns the inputs that a model reads for pairs.

        Args:
            pairs: "source" and optionally "target", string [n], of any bytes.

        Returns:
            `tokens` int32 [n, None]: the source's ids, without EOS; `target`
            int32 [n, None]: the target's ids, without BOS and with EOS.
        """
        features = {"tokens": self.source(pairs[SOURCE])}
        if TARGET in pairs:
            ids = self.target(pairs[TARGET])
            ends = tf.fill([ids.nrows(), 1], self.target.vocabulary.EOS)
            ends = tf.cast(ends, tf.int32)
            features[TARGET] = tf.concat([ids, ends], axis=1)
        return features

    def token_columns(self) -> dict[str, TokenColumn]:
        """The meaning of the ids; see `TokenColumn`."""

        def column(text: str, encoder: TextEncoder, ends: int) -> TokenColumn:
            return TokenColumn(
                (text,),
                encoder.vocabulary.tokens,
                encoder.vocabulary.OOV,
                lambda examples, name: encoder.written(examples[name]),
                special=(0, 0, ends),
            )

        return {
            "tokens": column(SOURCE, self.source, 0),
            TARGET: column(TARGET, self.target, 1),
        }


class TranslationText:
    """All encoders of a translation run.

    Args:
        source: encoder of the source language.
        targets: encoder of each target language, by its name.
    """

    def __init__(self, source: TextEncoder, targets: Mapping[str, TextEncoder]):
        self.source = source
        self.targets = dict(targets)

    def target(self, pair: str) -> TextEncoder:
        """The encoder of the target language of a pair.

        Raises:
            ConfigError: the run has no such language.
        """
        return look_up(languages_of(pair)[1], self.targets, "target language")

    def pair(self, pair: str) -> PairEncoder:
        """The encoder of a pair; raises as `target` does."""
        return PairEncoder(self.source, self.target(pair))

    @property
    def target_sizes(self) -> dict[str, int]:
        """Size of the vocabulary of each target language."""
        return {
            name: len(encoder.vocabulary)
            for name, encoder in self.targets.items()
        }

    @property
    def size(self) -> int:
        """The number of words of all languages together."""
        return len(self.source.vocabulary) + sum(self.target_sizes.values())

    @property
    def tables(self) -> list[Any]:
        """The tables that an export must track, except those of decoders."""
        encoders = [self.source, *self.targets.values()]
        return [table for encoder in encoders for table in encoder.tables]

    def save(self, directory: str) -> None:
        """Writes a folder for the source and one for each target language."""
        self.source.save(os.path.join(directory, SOURCE))
        for language, encoder in self.targets.items():
            encoder.save(os.path.join(directory, language))

    @classmethod
    def load(cls, directory: str, pairs: Iterable[str]) -> "TranslationText":
        """Reads the saved encoders of some pairs.

        Raises:
            MtlError: a file is missing or damaged.
        """
        targets = dict.fromkeys(languages_of(pair)[1] for pair in pairs)
        return cls(
            TextEncoder.load(os.path.join(directory, SOURCE)),
            {
                language: TextEncoder.load(os.path.join(directory, language))
                for language in targets
            },
        )
