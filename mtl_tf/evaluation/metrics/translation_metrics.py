"""Scores of translations, from 0 to 100, by sacrebleu.

Every score has sacrebleu's signature, which says how it was computed. Scores
with different signatures are not comparable.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.text.encoding.translation import without_region

Texts = Sequence[str]
# The largest n of BLEU's n-grams.
_ORDERS = 4
#: Replaces words outside the training vocabulary (Dong et al. 2015).
UNKNOWN = "UNK"


class Score(NamedTuple):
    """A corpus score and how it was computed."""

    value: float
    signature: str


Metric = Callable[..., Score]


def bleu(
    hypotheses: Texts,
    references: Texts,
    tokenizer: str = "",
    language: str = "",
    lowercase: bool = False,
) -> Score:
    """Corpus BLEU of n-grams up to 4 (Papineni et al. 2002; Post 2018).

    Args:
        hypotheses: n translations, real text.
        references: n reference translations.
        tokenizer: how sacrebleu splits texts: "none" for texts with tokens
            between spaces, "13a", "intl", "char", ...; "" for its default for
            the language.
        language: the language of the texts, such as "de".
        lowercase: whether to ignore case.

    Returns:
        The score; 0 if there are no texts.

    Raises:
        ConfigError: sacrebleu has no such tokenizer, or cannot use it.
        ValueError: the numbers of hypotheses and references differ.
    """
    metric = sacrebleu_bleu(tokenizer, language, lowercase=lowercase)
    return _score(metric, hypotheses, references)


def sacrebleu_bleu(tokenizer: str, language: str, **options: Any) -> Any:
    """Makes sacrebleu's `BLEU`.

    Args:
        tokenizer: as for `bleu`.
        language: as for `bleu`.
        **options: further arguments of `BLEU`.

    Raises:
        ConfigError: sacrebleu has no such tokenizer, or cannot use it.
    """
    from sacrebleu.metrics import BLEU

    if tokenizer:
        checks.one_of("bleu_tokenizer", tokenizer, sorted(BLEU.TOKENIZERS))
    try:
        return BLEU(
            tokenize=tokenizer or None,
            trg_lang=without_region(language),
            # Otherwise it warns about tokenized texts, which ours may be.
            force=True,
            **options,
        )
    except (ImportError, RuntimeError) as error:
        asked = f"bleu_tokenizer {tokenizer!r}"
        if not tokenizer:
            asked = f"BLEU of the language {language!r} (bleu_tokenizer)"
        raise ConfigError(f"{asked}: {' '.join(str(error).split())}")


class SummedBleu:
    """Corpus BLEU from counts of single texts, which are summed.

    So any part of a corpus is scored without reading texts again; a bootstrap
    draws thousands of parts. The score equals that of `bleu`.

    Args:
        tokenizer, language, lowercase: as for `bleu`.

    Raises:
        ConfigError: sacrebleu has no such tokenizer, or cannot use it.
    """

    def __init__(
        self, tokenizer: str = "", language: str = "", lowercase: bool = False
    ):
        # Only the counts of single texts are used. sacrebleu would warn about
        # their scores without `effective_order`.
        self._metric = sacrebleu_bleu(
            tokenizer, language, lowercase=lowercase, effective_order=True
        )

    def counts(
        self, hypotheses: Texts, references: Sequence[Texts]
    ) -> np.ndarray:
        """The counts of each text.

        Args:
            hypotheses: n texts.
            references: the references of each.

        Returns:
            int64 [n, 10]: the matching n-grams for n = 1 to 4, the n-grams of
            the text, and the lengths in tokens of the text and of the closest
            reference.
        """
        rows = []
        for hypothesis, right in zip(hypotheses, references, strict=True):
            bleu = self._metric.sentence_score(hypothesis, list(right))
            lengths = (bleu.sys_len, bleu.ref_len)
            rows.append([*bleu.counts, *bleu.totals, *lengths])
        return np.array(rows, np.int64).reshape(-1, 2 * _ORDERS + 2)

    def score(self, counts: np.ndarray) -> float:
        """The score of some texts' counts [m, 10], from 0 to 100."""
        *grams, length, reference_length = counts.sum(0).astype(int).tolist()
        bleu = self._metric.compute_bleu(
            grams[:_ORDERS], grams[_ORDERS:], length, reference_length, "exp"
        )
        return float(bleu.score)


class SummedChrf:
    """Corpus chrF2 from counts of single texts, as `SummedBleu`."""

    def __init__(self):
        from sacrebleu.metrics import CHRF

        # sacrebleu has no public name for what its own bootstrap uses.
        self._metric = CHRF()

    def counts(
        self, hypotheses: Texts, references: Sequence[Texts]
    ) -> np.ndarray:
        """The counts of each text.

        Args:
            hypotheses: n texts.
            references: for each text a sequence of its only reference.

        Returns:
            int64 [n, 18]: the numbers of n-grams of the text, of the reference
            and of both, for each of n = 1 to 6.
        """
        right = [reference for (reference,) in references]
        if len(right) != len(hypotheses):
            raise ValueError(
                f"{len(hypotheses)} texts, {len(right)} references"
            )
        rows = self._metric._extract_corpus_statistics(hypotheses, [right])
        return np.array(rows, np.int64).reshape(-1, 3 * self._metric.char_order)

    def score(self, counts: np.ndarray) -> float:
        """The score of some texts' counts [m, 18], from 0 to 100."""
        sums = counts.sum(0).tolist()
        return float(self._metric._compute_score_from_stats(sums).score)


def bleu_lc(
    hypotheses: Texts,
    references: Texts,
    tokenizer: str = "",
    language: str = "",
) -> Score:
    """Case-insensitive `bleu`, which Dong et al. (2015) report."""
    return bleu(hypotheses, references, tokenizer, language, lowercase=True)


def chrf(
    hypotheses: Texts,
    references: Texts,
    tokenizer: str = "",
    language: str = "",
) -> Score:
    """chrF2 of character n-grams up to 6 (Popovic 2015); ignores tokenizer."""
    from sacrebleu.metrics import CHRF

    del tokenizer, language
    return _score(CHRF(), hypotheses, references)


METRICS: dict[str, Metric] = {"bleu": bleu, "bleu_lc": bleu_lc, "chrf": chrf}


def get(name: str) -> Metric:
    """The metric of that name.

    Returns:
        A function (hypotheses, references, tokenizer, language) -> `Score`.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric of translation tasks")


def _score(metric: Any, hypotheses: Texts, references: Texts) -> Score:
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{len(references)} references, but {len(hypotheses)} hypotheses"
        )
    # sacrebleu knows its signature only after it has computed a score.
    texts = (hypotheses, references) if len(references) else ([""], [""])
    value = metric.corpus_score(list(texts[0]), [list(texts[1])]).score
    signature = str(metric.get_signature())
    return Score(float(value) if len(references) else 0.0, signature)
