"""The training pairs of a translation run, and its encoders.

Pairs that are too long, or too unequal in length to be translations, are left
out of training and counted. Evaluation always uses whole splits.
"""

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import look_up
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.examples.vocabulary_building import (
    check_sizes,
    learnt_tokenizer,
    vocabulary_of_pieces,
    vocabulary_of_words,
    warn_of_unknown_word,
)
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.translation import (
    SOURCE,
    TARGET,
    TranslationText,
    languages_of,
    source_of,
)
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary

_TEXTS_AT_ONCE = 1024


@dataclasses.dataclass(frozen=True)
class PairFilter:
    """Selects the pairs to train on.

    Attributes:
        max_length: the most tokens of a source; 0 for no limit.
        target_max_length: the most tokens of a target, without its end; 0 for
            no limit.
        max_ratio: the largest ratio of the longer text's length to the
            shorter's; 0 for no limit.
    """

    max_length: int = 0
    target_max_length: int = 0
    max_ratio: float = 0.0

    @classmethod
    def of_config(cls, text_config: Mapping[str, Any]) -> "PairFilter":
        """The filter of a config's `text` section.

        Raises:
            ConfigError: a wrong number.
        """
        names = ("max_length", "target_max_length")
        limits = [
            checks.not_negative_integer(f"text.{name}", text_config[name])
            for name in names
        ]
        ratio = checks.not_negative("text.max_ratio", text_config["max_ratio"])
        if 0 < ratio < 1:
            raise ConfigError(
                f"text.max_ratio must be at least 1, or 0 for none, got {ratio}"
            )
        return cls(*limits, ratio)

    def reasons(
        self, sources: np.ndarray, targets: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The reasons for leaving pairs out.

        Args:
            sources, targets: integers [n], their lengths in tokens.

        Returns:
            bool [n] by reason: `empty`, `long_source`, `long_target`, `ratio`.
            Each pair has at most one reason, the first that applies.
        """
        longer = np.maximum(sources, targets)
        shorter = np.minimum(sources, targets)
        reasons = {
            "empty": shorter == 0,
            "long_source": sources > (self.max_length or np.inf),
            "long_target": targets > (self.target_max_length or np.inf),
            "ratio": (longer > shorter * self.max_ratio) & (self.max_ratio > 0),
        }
        rest = np.ones(len(sources), bool)
        for reason, mask in reasons.items():
            reasons[reason] = mask & rest
            rest &= ~mask
        return reasons

    def keep(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether to train on each pair, bool [n]; lengths as in `reasons`."""
        reasons = self.reasons(sources, targets).values()
        return ~np.logical_or.reduce(list(reasons))

    def apply(self, split: EncodedSplit) -> tuple[EncodedSplit, dict[str, int]]:
        """Leaves out the pairs of a split that are not trained on.

        Returns:
            The remaining split, and the number of pairs left out for each
            reason that occurs.

        Raises:
            DataError: no pair is left.
        """
        sources = split.columns["tokens"].lengths
        reasons = self.reasons(sources, split.columns[TARGET].lengths - 1)
        counts = {k: int(mask.sum()) for k, mask in reasons.items()}
        counts = {k: number for k, number in counts.items() if number}
        if not counts:
            return split, counts
        keep = ~np.logical_or.reduce(list(reasons.values()))
        if not keep.any():
            raise DataError(
                f"task {split.name}: none of its {len(split)} training pairs "
                f"is left by text.max_length ({self.max_length}), "
                f"text.target_max_length ({self.target_max_length}) and "
                f"text.max_ratio ({self.max_ratio}): {counts}"
            )
        return split.select(keep), counts


def build_text(
    tasks: Iterable[Any], text_config: Mapping[str, Any]
) -> TranslationText:
    """Builds the encoders of the languages from the training splits.

    Each language has its own tokenizer and vocabulary. Tasks with the same
    target language share these, built from all their texts. Words are counted
    only in pairs that are trained on; subwords are learnt from all pairs.

    Args:
        tasks: translation tasks with one source language.
        text_config: `tokenizer` (its config), `tokenizers` (of languages with
            another one), `min_count`, `max_size` (for each language; 0: no
            limit), and the limits of `PairFilter`.

    Returns:
        The encoders, which do not cut texts.

    Raises:
        ConfigError: a wrong field, or more than one source language.
        DataError: the data are wrong, or there are no pairs.
    """
    tasks = list(tasks)
    source = source_of(task.name for task in tasks)
    languages = dict.fromkeys(languages_of(task.name)[1] for task in tasks)
    configs = _tokenizer_configs(text_config, [source, *languages])
    check_sizes(text_config)
    tokenizers = {}
    for side, language in ((SOURCE, source), *zip(languages, languages)):
        of_language = [
            t for t in tasks if side in (SOURCE, languages_of(t.name)[1])
        ]
        tokenizer = make_tokenizer(configs[language])
        try:
            tokenizers[side] = _learnt(
                tokenizer, of_language, side, text_config
            )
        except ConfigError as error:
            raise ConfigError(f"texts in {language!r}: {error}")
    counts = _count(tasks, tokenizers, PairFilter.of_config(text_config))
    encoders = {
        side: TextEncoder(
            tokenizer, _vocabulary(side, tokenizer, counts[side], text_config)
        )
        for side, tokenizer in tokenizers.items()
    }
    return TranslationText(encoders.pop(SOURCE), encoders)


def _tokenizer_configs(
    text_config: Mapping[str, Any], languages: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """The config of each language's tokenizer."""
    usual = dict(text_config["tokenizer"].items())
    configs = dict.fromkeys(languages, usual)
    for language, config in text_config["tokenizers"].items():
        look_up(language, configs, "language in text.tokenizers")
        configs[language] = dict(config.items())
    return configs


def _specials(side: str) -> tuple[str, ...]:
    return () if side == SOURCE else BOUNDS


def _learnt(
    tokenizer: Tokenizer,
    tasks: Iterable[Any],
    side: str,
    text_config: Mapping[str, Any],
) -> Tokenizer:
    """A language's tokenizer; `side` is `SOURCE` or the target language."""
    column = SOURCE if side == SOURCE else TARGET
    texts = (
        texts
        for task in tasks
        for texts in _batches(task, lambda batch: batch[column])
    )
    return learnt_tokenizer(
        tokenizer, texts, text_config["max_size"], _specials(side)
    )


def _vocabulary(
    side: str,
    tokenizer: Tokenizer,
    counts: Mapping[str, int],
    text_config: Mapping[str, Any],
) -> Vocabulary:
    specials = _specials(side)
    if tokenizer.pieces:
        return vocabulary_of_pieces(tokenizer, specials)
    if side == SOURCE:
        warn_of_unknown_word(text_config)
    return vocabulary_of_words(counts, text_config, specials)


def _count(
    tasks: Iterable[Any],
    tokenizers: Mapping[str, Tokenizer],
    pair_filter: PairFilter,
) -> dict[str, collections.Counter[str]]:
    """How often each token occurs, in the source and in each language."""
    counts = {side: collections.Counter() for side in tokenizers}
    if all(tokenizer.pieces for tokenizer in tokenizers.values()):
        return counts
    for task in tasks:
        language = languages_of(task.name)[1]
        sides = (tokenizers[SOURCE], tokenizers[language])

        @tf.autograph.experimental.do_not_convert
        def tokens(batch: dict[str, tf.Tensor], sides=sides) -> Any:
            return sides[0](batch[SOURCE]), sides[1](batch[TARGET])

        for source, target in _batches(task, tokens):
            keep = pair_filter.keep(
                source.row_lengths().numpy(), target.row_lengths().numpy()
            )
            for side, tokens_of_side in ((SOURCE, source), (language, target)):
                trained_on = tf.ragged.boolean_mask(tokens_of_side, keep)
                counts[side].update(Vocabulary.count([trained_on]))
    return counts


def _batches(task: Any, take: Callable) -> Iterator[Any]:
    """Yields the result of `take` for each batch of training pairs."""
    yield from fixed(
        task.dataset("train")
        .batch(_TEXTS_AT_ONCE)
        .map(take, num_parallel_calls=2)
        .prefetch(2)
    )
