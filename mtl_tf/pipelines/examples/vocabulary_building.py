"""Builds tokenizers and vocabularies from a run's training texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from mtl_tf.core import checks
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer
from mtl_tf.text.vocabulary import (
    Vocabulary,
    first_tokens,
    places_for_words,
)

#: Tells which of some words have a pretrained vector.
Pretrained = Callable[[Iterable[str]], set[str]]


def check_sizes(text_config: Mapping[str, Any]) -> None:
    """Refuses a wrong `min_count` or `max_size` before texts are read.

    Raises:
        ConfigError: a value is wrong.
    """
    checks.positive_integer("text.min_count", text_config["min_count"])
    checks.not_negative_integer("text.max_size", text_config["max_size"])


def warn_of_unknown_word(text_config: Mapping[str, Any]) -> None:
    """Warns if the vocabulary has every word of the texts that it is made of.

    For models that do not replace words by the unknown one in training.
    """
    if text_config["min_count"] == 1 and not text_config["max_size"]:
        logging.warning(
            "text.min_count is 1: no word of the texts that the vocabulary is "
            "made of is unknown, so they do not train the vector of unknown "
            "words; with 2 they do"
        )


def learnt_tokenizer(
    tokenizer: Tokenizer,
    texts: Iterable[tf.Tensor],
    max_size: int,
    specials: Sequence[str] = (),
) -> Tokenizer:
    """The tokenizer, trained on the texts if it needs training.

    Args:
        tokenizer: the tokenizer of the config.
        texts: strings [n], read only if the tokenizer needs training.
        max_size: the most vocabulary entries; 0 for the tokenizer's default.
        specials: the vocabulary's special tokens.

    Raises:
        ConfigError: `max_size` is too small.
        DataError: there is no text.
    """
    if not tokenizer.needs_training:
        return tokenizer
    places = places_for_words(max_size, len(first_tokens(specials)))
    return tokenizer.trained(texts, places)


def vocabulary_of_pieces(
    tokenizer: Tokenizer, specials: Sequence[str] = ()
) -> Vocabulary:
    """The special tokens and all pieces of a subword tokenizer."""
    return Vocabulary([*first_tokens(specials), *tokenizer.pieces])


def vocabulary_of_words(
    counts: Mapping[str, int],
    text_config: Mapping[str, Any],
    specials: Sequence[str] = (),
    pretrained: Pretrained | None = None,
    others: Iterable[Iterable[str]] = (),
) -> Vocabulary:
    """Special tokens, frequent words, and words with a pretrained vector.

    Args:
        counts: how often each word occurs in training.
        text_config: `min_count` and `max_size` (0: no limit).
        specials: the vocabulary's special tokens.
        pretrained: None without pretrained vectors.
        others: words of other splits, used only with `pretrained`; a vector
            reveals nothing about labels.

    Raises:
        ConfigError: `max_size` is too small for a word.
    """
    more: set[str] = set()
    if pretrained is not None:
        more = pretrained(set(counts).union(*others))
    return Vocabulary.from_counts(
        counts,
        min_count=text_config["min_count"],
        max_size=text_config["max_size"],
        specials=specials,
        more=more,
    )
