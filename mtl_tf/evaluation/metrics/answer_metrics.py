"""Scores of answers, from 0 to 100: the metrics of decaNLP.

McCann et al. (2018), section 2 and table 1. No metric is case-sensitive. Each
has two steps: statistics of each example, and a score from the statistics of
any examples. So a bootstrap can draw examples without reading their texts
again.
"""

import dataclasses
import functools
import itertools
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from mtl_tf.core.names import look_up
from mtl_tf.evaluation.metrics import (
    dialogue_state,
    logical_forms,
    query_results,
    translation_metrics,
)
from mtl_tf.evaluation.metrics.unscored import Unscored

#: The answer to a question that the context does not answer.
UNANSWERABLE = "unanswerable"
# The characters of `rouge-score`'s tokens.
_ROUGE_TOKEN = re.compile("[a-z0-9]")
_ROUGE = ("rouge1", "rouge2", "rougeLsum")


class Example(NamedTuple):
    """What the answer to one example is compared with.

    Attributes:
        references: the texts that count as right.
        scoring: what the task's metric needs besides these.
    """

    references: Sequence[str]
    scoring: Mapping[str, Any] = {}


Statistics = Callable[[Sequence[str], Sequence[Example]], Any]
Check = Callable[[Sequence[Example]], Any]


def mean(statistics: np.ndarray) -> float:
    """The mean of the first statistic of the examples, in percent."""
    return float(100 * np.mean(statistics[:, 0]))


def _referenced(examples: Sequence[Example]) -> None:
    for number, example in enumerate(examples):
        if not example.references:
            raise Unscored(number, "it has no reference")


@dataclasses.dataclass(frozen=True)
class Metric:
    """A metric; calling it with predictions and examples gives the score.

    Attributes:
        of_examples: (predictions of n examples, examples) -> numbers [n, k], or
            [n]. See `statistics`.
        score: (such numbers of any examples, [m, k] with m > 0) -> their score,
            from 0 to 100.
        also: names of the numbers after the first, if they too are scores of
            the example, from 0 to 1.
        check: raises `Unscored` for the first example that lacks something.
        needs: a key of `scoring` that a whole corpus may lack, or ""; see
            `is_known`.
    """

    of_examples: Statistics
    score: Callable[[np.ndarray], float] = mean
    also: tuple[str, ...] = ()
    check: Check = _referenced
    needs: str = ""
    together: str = ""

    def is_known(self, examples: Sequence[Example]) -> bool:
        """Whether any example has what the metric needs."""
        return not self.needs or any(
            self.needs in example.scoring for example in examples
        )

    def statistics(
        self, predictions: Sequence[str], examples: Sequence[Example]
    ) -> np.ndarray:
        """The statistics of each example, from which the score is computed.

        Args:
            predictions: n answers, real text.
            examples: what they are compared with.

        Returns:
            Numbers [n, k]; for metrics that are means, [n, 1], from 0 to 1.

        Raises:
            Unscored: an example has no reference and the metric needs one, or
                its `scoring` lacks something.
            ValueError: the numbers of examples and predictions differ.
        """
        if len(predictions) != len(examples):
            raise ValueError(
                f"{len(predictions)} predictions, but {len(examples)} examples"
            )
        self.check(examples)
        rows = np.asarray(self.of_examples(predictions, examples), float)
        return rows.reshape(len(predictions), -1 if len(predictions) else 1)

    def __call__(
        self, predictions: Sequence[str], examples: Sequence[Example]
    ) -> float:
        """The score of all examples, from 0 to 100; 0 if there are none."""
        statistics = self.statistics(predictions, examples)
        return self.score(statistics) if len(statistics) else 0.0


def normalised(text: str) -> str:
    """Normalises a text as the official script of SQuAD 1.1 does.

    Lower case, without ASCII punctuation (other punctuation stays) and
    articles, with single spaces.
    """
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def _f1(prediction: str, reference: str) -> float:
    """F1 of bags of words; 0 if both are empty, as in the official script."""
    words = normalised(prediction).split()
    reference_words = normalised(reference).split()
    common = sum((Counter(words) & Counter(reference_words)).values())
    return 2 * common / (len(words) + len(reference_words)) if common else 0.0


def _best(measure: Callable[[str, str], float]) -> Statistics:
    """A measure of two texts, for the reference with the highest value."""

    def of_examples(predictions, examples):
        return [
            max(
                measure(prediction, reference)
                for reference in example.references
            )
            for prediction, example in zip(predictions, examples)
        ]

    return of_examples


def _equal(form: Callable[[str], str]) -> Statistics:
    return _best(lambda a, b: float(form(a) == form(b)))


@functools.cache
def _warn_of_script() -> None:
    """Warns once in a process that ROUGE reads only ASCII letters."""
    logging.warning(
        "rouge: there are right answers without an ASCII letter or digit; "
        "even equal texts score 0 there, because rouge-score leaves out all "
        "other characters"
    )


@functools.cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    # The usual scoring of CNN/DM uses Lin's script with stemming, option -m.
    return RougeScorer(list(_ROUGE), use_stemmer=True)


def _rouge(
    predictions: Sequence[str], examples: Sequence[Example]
) -> list[list[float]]:
    """F1 of ROUGE-1, -2 and -L: their mean, and the three.

    ROUGE-L is that of summaries: the longest common subsequences of sentences,
    which end at periods and line ends, as decaNLP's scorer divides texts.

    `rouge-score` reads only ASCII letters and digits. Texts in other scripts
    become empty, and even equal ones score 0.
    """
    rows = []
    for prediction, example in zip(predictions, examples):
        references = list(example.references)
        for text in references:
            if text.strip() and not _ROUGE_TOKEN.search(text.lower()):
                _warn_of_script()
        best = _rouge_scorer().score_multi(
            list(map(_by_sentence, references)), _by_sentence(prediction)
        )
        three = [best[name].fmeasure for name in _ROUGE]
        rows.append([sum(three) / len(three), *three])
    return rows


def _by_sentence(text: str) -> str:
    """A text with a sentence a line, as rougeLsum expects it."""
    return text.replace(".", "\n")


def bleu_metric(tokenizer: str = "", language: str = "") -> Metric:
    """Case-insensitive corpus BLEU by sacrebleu (Post 2018).

    Its statistics [n, 10] are the matching n-grams for n = 1 to 4, the n-grams
    of the prediction, and the lengths in tokens of the prediction and of the
    closest reference.

    Args:
        tokenizer: how sacrebleu splits texts; "" for its default for the
            language.
        language: the language of the texts, such as "de".

    Raises:
        ConfigError: sacrebleu has no such tokenizer, or cannot use it.
    """
    metric = translation_metrics.SummedBleu(tokenizer, language, lowercase=True)

    def of_examples(predictions, examples):
        references = [example.references for example in examples]
        return metric.counts(predictions, references)

    # Floating-point error gives equal texts 100.00000000000004.
    return Metric(of_examples, lambda counts: min(100.0, metric.score(counts)))


def bleu_signature(
    examples: Sequence[Example], tokenizer: str = "", language: str = ""
) -> str:
    """sacrebleu's signature of `bleu_metric`'s score of these examples."""
    metric = translation_metrics.sacrebleu_bleu(
        tokenizer, language, lowercase=True
    )
    # sacrebleu knows its signature only after it has computed a score.
    references = [example.references for example in examples] or [[""]]
    streams = [list(stream) for stream in itertools.zip_longest(*references)]
    metric.corpus_score([""] * len(references), streams)
    return str(metric.get_signature())


def _relation_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of an answer in QA-ZRE; none for "unanswerable".

    As in the scorer of Levy et al. (2017), "and" is removed like an article,
    because it joins answers that are all meant. That scorer treats an empty
    answer as null, so "" and "unanswerable" are equal here.
    """
    words = {
        "".join(c for c in word if c not in string.punctuation)
        for text in texts
        for word in text.lower().split()
    }
    words -= {"", "a", "an", "and", "the"}
    return frozenset() if words == {UNANSWERABLE} else frozenset(words)


def _relations(
    predictions: Sequence[str], examples: Sequence[Example]
) -> list[list[bool]]:
    """For each example: answered correctly, answered at all, answerable."""
    rows = []
    for prediction, example in zip(predictions, examples):
        words = _relation_words([prediction])
        reference_words = _relation_words(example.references)
        is_right = bool(words) and words == reference_words
        rows.append([is_right, bool(words), bool(reference_words)])
    return rows


def _corpus_f1(statistics: np.ndarray) -> float:
    true, predicted, answerable = statistics.sum(0)
    # The harmonic mean of true / answered and true / answerable.
    return float(200 * true / (predicted + answerable)) if true else 0.0


def _in_dialogues(examples: Sequence[Example]) -> None:
    _referenced(examples)
    dialogue_state.dialogues([example.scoring for example in examples])


def _turns(column: int) -> Statistics:
    def of_examples(predictions, examples):
        return dialogue_state.right_turns(
            predictions,
            [example.references[0] for example in examples],
            [example.scoring for example in examples],
        )[:, column]

    return of_examples


def _queries(
    is_same: Callable[[str, str, Mapping[str, Any]], bool],
) -> Statistics:
    def of_examples(predictions, examples):
        return [
            is_same(prediction, example.references[0], example.scoring)
            for prediction, example in zip(predictions, examples)
        ]

    return of_examples


def _each(check: Callable[[Mapping[str, Any]], Any]) -> Check:
    def check_all(examples):
        _referenced(examples)
        for number, example in enumerate(examples):
            try:
                check(example.scoring)
            except ValueError as error:
                raise Unscored(number, str(error))

    return check_all


#: Word F1 after `normalised`, with the closest reference: SQuAD, QA-SRL.
nf1 = Metric(_best(_f1))
#: Whether an answer equals a reference up to case and spacing. For SST, MNLI
#: and MWSC this is accuracy.
em = Metric(_equal(logical_forms.normal))
#: The same after `normalised`: exact match of the SQuAD 1.1 script.
nem = Metric(_equal(normalised))
#: Corpus BLEU with sacrebleu's default tokenizer: IWSLT.
bleu = Metric(
    lambda *texts: bleu_metric().of_examples(*texts),
    lambda statistics: bleu_metric().score(statistics),
)
#: The mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L by `rouge-score` with stemming,
#: each with its best reference: CNN/DM. ROUGE-L treats the lines of a text as
#: its sentences (Lin 2004, summary level); for texts of one line that is plain
#: ROUGE-L. The statistics [n, 4] are the mean and the three.
rouge = Metric(_rouge, also=("rouge_1", "rouge_2", "rouge_l"))
#: F1 over all questions: QA-ZRE. An answer is right if the set of its words
#: equals that of all references together; see `_relation_words`. Precision is
#: over the answered questions, recall over the answerable ones.
cf1 = Metric(_relations, _corpus_f1, check=lambda examples: None)
#: Percentage of dialogue turns up to which all goals are right: WOZ. The paper
#: scores "the goals of the customers", so requests do not count here.
dsem = Metric(_turns(0), check=_in_dialogues, together="dialogue")
#: Percentage of dialogue turns with the right requests.
request_em = Metric(_turns(1), check=_in_dialogues, together="dialogue")
#: Percentage of dialogue turns whose newly set goals are right, whatever
#: earlier turns said.
turn_em = Metric(_turns(2), check=_in_dialogues, together="dialogue")
#: Percentage of queries that are right as logical forms: WikiSQL.
lfem = Metric(_queries(logical_forms.same), check=_each(logical_forms.gold))
#: Percentage of queries with the same result as the right query: WikiSQL. Some
#: copies of its tables have no rows.
execution = Metric(
    _queries(query_results.same), check=_each(query_results.check), needs="rows"
)

METRICS: dict[str, Metric] = {
    "nf1": nf1,
    "em": em,
    "nem": nem,
    "bleu": bleu,
    "rouge": rouge,
    "cf1": cf1,
    "dsem": dsem,
    "request_em": request_em,
    "turn_em": turn_em,
    "lfem": lfem,
    "execution": execution,
}


def get(name: str) -> Metric:
    """The metric of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric of question answering")
