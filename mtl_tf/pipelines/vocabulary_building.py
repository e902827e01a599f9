"""Tokenizers and vocabularies as the training texts of a run make them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.text.base_tokenizer import Tokenizer
from mtl_tf.text.vocabulary import (
    Vocabulary,
    first_tokens,
    places_for_words,
)

#: Says which of some words have a vector that was learnt elsewhere.
Pretrained = Callable[[Iterable[str]], set[str]]


def check_sizes(text_config: Mapping[str, Any]) -> None:
    """Refuses a wrong `min_count` or `max_size` before texts are read.

    Raises:
        ConfigError: one is wrong.
    """
    checks.positive_integer("text.min_count", text_config["min_count"])
    checks.not_negative_integer("text.max_size", text_config["max_size"])


def learnt_tokenizer(
    tokenizer: Tokenizer,
    texts: Iterable[tf.Tensor],
    max_size: int,
    specials: Sequence[str] = (),
) -> Tokenizer:
    """The tokenizer, after it has learnt from the texts if it has to.

    Args:
        tokenizer: as the config has it.
        texts: strings [n], read only if there is something to learn.
        max_size: entries of the vocabulary at most; 0 for the default of the
            tokenizer.
        specials: of the vocabulary.

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
    """The specials and all pieces of a tokenizer that has some."""
    return Vocabulary([*first_tokens(specials), *tokenizer.pieces])


def vocabulary_of_words(
    counts: Mapping[str, int],
    text_config: Mapping[str, Any],
    specials: Sequence[str] = (),
    pretrained: Pretrained | None = None,
    others: Iterable[Iterable[str]] = (),
) -> Vocabulary:
    """The specials, the frequent words and those that have a vector.

    Args:
        counts: how often each word occurs in training.
        text_config: `min_count` and `max_size` (0: no limit).
        specials: of the vocabulary.
        pretrained: None if no vectors were learnt elsewhere.
        others: words of other splits, read only for `pretrained`: a vector
            says nothing about labels.

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
