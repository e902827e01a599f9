"""Scores of answers, from 0 to 100: the metrics of decaNLP.

McCann et al. (2018), section 2 and table 1. No metric minds case. Every one
goes in two steps, statistics of each example and a score of any of them, so
that a bootstrap draws examples without reading their texts again.
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
from mtl_tf.evaluation import (
    dialogue_state,
    logical_forms,
    query_results,
    translation_metrics,
)
from mtl_tf.evaluation.unscored import Unscored

#: The answer that says that a question has none.
UNANSWERABLE = "unanswerable"
# What `rouge-score` makes tokens of.
_ROUGE_TOKEN = re.compile("[a-z0-9]")
_ROUGE = ("rouge1", "rouge2", "rougeLsum")


class Example(NamedTuple):
    """What the answer of one example is compared with.

    Attributes:
        references: the texts that count as right.
        scoring: what the task's metric has to know beyond these.
    """

    references: Sequence[str]
    scoring: Mapping[str, Any] = {}


Statistics = Callable[[Sequence[str], Sequence[Example]], Any]
Check = Callable[[Sequence[Example]], Any]


def mean(statistics: np.ndarray) -> float:
    """The mean of the first number of each example, in percent."""
    return float(100 * np.mean(statistics[:, 0]))


def _referenced(examples: Sequence[Example]) -> None:
    for number, example in enumerate(examples):
        if not example.references:
            raise Unscored(number, "it has no reference")


@dataclasses.dataclass(frozen=True)
class Metric:
    """A metric; called with predictions and examples it gives the score.

    Attributes:
        of_examples: (predictions of n examples, examples) -> numbers [n, k],
            or [n]. See `statistics`.
        score: (such numbers of any examples, [m, k] with m > 0) -> the score
            of these, from 0 to 100.
        also: names of the numbers behind the first, where they are scores of
            the example too, from 0 to 1.
        check: raises `Unscored` of the first example that lacks something.
        needs: a key of `scoring` that a corpus may be without as a whole, ""
            for none; see `is_known`.
    """

    of_examples: Statistics
    score: Callable[[np.ndarray], float] = mean
    also: tuple[str, ...] = ()
    check: Check = _referenced
    needs: str = ""

    def is_known(self, examples: Sequence[Example]) -> bool:
        """Whether some example has what the metric needs."""
        return not self.needs or any(
            self.needs in example.scoring for example in examples
        )

    def statistics(
        self, predictions: Sequence[str], examples: Sequence[Example]
    ) -> np.ndarray:
        """What the score is made of, example by example.

        Args:
            predictions: n answers, real text.
            examples: what they are compared with.

        Returns:
            Numbers [n, k]; of metrics that are means, [n, 1], from 0 to 1.

        Raises:
            Unscored: an example has no reference where the metric needs one,
                or its `scoring` lacks something.
            ValueError: there are more or fewer examples than predictions.
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
    """As the official script of SQuAD 1.1 has it.

    In lower case, without ASCII punctuation (other punctuation stays), without
    articles, with single spaces.
    """
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def _f1(prediction: str, reference: str) -> float:
    """F1 of bags of words, as in the official script of SQuAD 1.1.

    There no answer is empty. Where the right one is, only an empty one is
    right, as in that of SQuAD 2.0.
    """
    words = normalised(prediction).split()
    if not reference.strip():
        return float(not words)
    reference_words = normalised(reference).split()
    common = sum((Counter(words) & Counter(reference_words)).values())
    return 2 * common / (len(words) + len(reference_words)) if common else 0.0


def _best(measure: Callable[[str, str], float]) -> Statistics:
    """A measure of two texts, of the reference that it is greatest with."""

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
    """Warns, once in a process."""
    logging.warning(
        "rouge: there are right answers without an ASCII letter or digit; "
        "even equal texts score 0 there, because rouge-score leaves out all "
        "other characters"
    )


@functools.cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    # Lin's script stems in the customary scoring of CNN/DM, option -m.
    return RougeScorer(list(_ROUGE), use_stemmer=True)


def _rouge(
    predictions: Sequence[str], examples: Sequence[Example]
) -> list[list[float]]:
    """The mean of F1 of ROUGE-1, -2 and -L, and the three.

    `rouge-score` knows ASCII letters and digits alone: of texts in other
    scripts nothing is left, and even equal ones score 0.
    """
    rows = []
    for prediction, example in zip(predictions, examples):
        references = list(example.references)
        for text in references:
            if text.strip() and not _ROUGE_TOKEN.search(text.lower()):
                _warn_of_script()
        best = _rouge_scorer().score_multi(references, prediction)
        three = [best[name].fmeasure for name in _ROUGE]
        rows.append([sum(three) / len(three), *three])
    return rows


def bleu_metric(tokenizer: str = "", language: str = "") -> Metric:
    """Corpus BLEU without case, by sacrebleu (Post 2018).

    Its statistics are the n-grams of n = 1 to 4 that are right, those there
    are, and the lengths of the prediction and of the nearest reference, in
    tokens: [n, 10].

    Args:
        tokenizer: how sacrebleu splits texts; "" for what it takes for the
            language.
        language: of the texts, such as "de".

    Raises:
        ConfigError: sacrebleu has no such tokenizer, or cannot use it.
    """
    metric = translation_metrics.SummedBleu(tokenizer, language, lowercase=True)

    def of_examples(predictions, examples):
        references = [example.references for example in examples]
        return metric.counts(predictions, references)

    # Equal texts give 100.00000000000004.
    return Metric(of_examples, lambda counts: min(100.0, metric.score(counts)))


def bleu_signature(
    examples: Sequence[Example], tokenizer: str = "", language: str = ""
) -> str:
    """sacrebleu's signature of `bleu_metric`'s score of these examples."""
    metric = translation_metrics.sacrebleu_bleu(
        tokenizer, language, lowercase=True
    )
    # A signature is only known after a score. None is no reference.
    references = [example.references for example in examples] or [[""]]
    streams = [list(stream) for stream in itertools.zip_longest(*references)]
    metric.corpus_score([""] * len(references), streams)
    return str(metric.get_signature())


def _relation_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of answers of QA-ZRE; none of "unanswerable" alone.

    As in the scorer of Levy et al. (2017), "and" goes with the articles: it
    joins answers of which all are meant. An empty answer is null there, so
    that "" and "unanswerable" are the same here.
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
    """Of each example: answered rightly, answered at all, answerable."""
    rows = []
    for prediction, example in zip(predictions, examples):
        words = _relation_words([prediction])
        reference_words = _relation_words(example.references)
        is_right = bool(words) and words == reference_words
        rows.append([is_right, bool(words), bool(reference_words)])
    return rows


def _corpus_f1(statistics: np.ndarray) -> float:
    true, predicted, answerable = statistics.sum(0)
    # Harmonic mean of true / answered and true / answerable.
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


#: F1 of words after `normalised`, with the nearest reference: SQuAD, QA-SRL.
nf1 = Metric(_best(_f1))
#: Whether an answer is a reference, but for case and spacing: SST, MNLI and
#: MWSC, where this is accuracy.
em = Metric(_equal(logical_forms.normal))
#: The same after `normalised`: exact match in the script of SQuAD 1.1.
nem = Metric(_equal(normalised))
#: Corpus BLEU with sacrebleu's default tokenizer: IWSLT.
bleu = Metric(
    lambda *texts: bleu_metric().of_examples(*texts),
    lambda statistics: bleu_metric().score(statistics),
)
#: The mean of ROUGE-1, ROUGE-2 and ROUGE-L by `rouge-score`, of F1 with
#: stemming, each with its best reference: CNN/DM. ROUGE-L takes the lines of
#: a text as its sentences (Lin 2004, summary level); for texts of one line
#: that is plain ROUGE-L. Its statistics [n, 4] are the mean and the three.
rouge = Metric(_rouge, also=("rouge_1", "rouge_2", "rouge_l"))
#: F1 over all questions: QA-ZRE. An answer is right if its words are those of
#: all references together, as a set; see `_relation_words`. Precision is over
#: the questions that are answered, recall over those that have an answer.
cf1 = Metric(_relations, _corpus_f1, check=lambda examples: None)
#: Turns of dialogues up to which all goals are right: WOZ. The paper scores
#: "the goals of the customers", so requests do not count here.
dsem = Metric(_turns(0), check=_in_dialogues)
#: Turns of dialogues of which the requests are right.
request_em = Metric(_turns(1), check=_in_dialogues)
#: Turns of dialogues of which the goals that they set are right, whatever was
#: said before.
turn_em = Metric(_turns(2), check=_in_dialogues)
#: Queries that are right as logical forms: WikiSQL.
lfem = Metric(_queries(logical_forms.same), check=_each(logical_forms.gold))
#: Queries that find in their tables what the right ones do: WikiSQL. Some
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
