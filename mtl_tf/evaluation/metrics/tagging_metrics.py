"""Scores of tagged sentences, from 0 to 100, and files for other scorers.

Sentences are sequences of tag names. A prediction may be shorter than its
sentence if the model read only `text.max_length` tokens. Tokens that it did not
read count as `O`, or as wrong if the tags are not span tags.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.text import span_schemes

Sentences = Sequence[Sequence[str]]
_STRICT = {"iob2": "IOB2", "iobes": "IOBES"}
# No tag of words: `O` may be one, such as that of pronouns in tweets.
_UNREAD = ""


def complete(
    gold: Sentences, predicted: Sentences, filler: str = span_schemes.OUTSIDE
) -> list[list[str]]:
    """Completes the predictions to the lengths of their sentences.

    Args:
        gold: the right tags of each sentence.
        predicted: the predicted tags.
        filler: the tag of tokens that the model did not read.

    Raises:
        ValueError: the numbers of predictions and sentences differ, or a
            prediction is longer than its sentence.
    """
    if len(gold) != len(predicted):
        raise ValueError(
            f"{len(gold)} sentences, but predictions for {len(predicted)}"
        )
    completed = []
    for number, (tags, predicted_tags) in enumerate(zip(gold, predicted)):
        if len(predicted_tags) > len(tags):
            raise ValueError(
                f"sentence {number} has {len(tags)} tokens, but "
                f"{len(predicted_tags)} predicted tags"
            )
        missing = [filler] * (len(tags) - len(predicted_tags))
        completed.append([*predicted_tags, *missing])
    return completed


@dataclasses.dataclass(frozen=True)
class Metric:
    """A metric; calling it with gold and predicted sentences gives the score.

    The counts of sentences are summed. So any part of a test set is scored
    without reading tags again; a bootstrap draws thousands of parts.

    Attributes:
        count: (gold tags of a sentence, predicted tags, scheme) -> the numbers
            of correct, predicted and gold tokens or spans.
        of_counts: (these numbers, summed over sentences) -> a score from 0 to
            1.
    """

    count: Callable[[Sequence[str], Sequence[str], str], tuple[int, int, int]]
    of_counts: Callable[[int, int, int], float]

    def counts(
        self, gold: Sentences, predicted: Sentences, scheme: str = "iob2"
    ) -> np.ndarray:
        """The results of `count` for each sentence, int64 [n, 3].

        Args:
            gold: the right tags of each sentence.
            predicted: the predicted tags.
            scheme: the scheme of both: "iob2" or "iobes"; "" for tags of words.

        Raises:
            ConfigError: the metric is for spans, and the tags are not span
                tags.
        """
        filler = span_schemes.OUTSIDE if scheme else _UNREAD
        pairs = zip(gold, complete(gold, predicted, filler))
        rows = [self.count(*pair, scheme) for pair in pairs]
        return np.array(rows, np.int64).reshape(-1, 3)

    def score(self, counts: np.ndarray) -> float:
        """The score of any counts, from 0 to 100; 0 if nothing is right."""
        right, *others = counts.sum(0).tolist()
        return 100.0 * self.of_counts(right, *others) if right else 0.0

    def __call__(
        self, gold: Sentences, predicted: Sentences, scheme: str = "iob2"
    ) -> float:
        """The score of all sentences; the arguments are those of `counts`."""
        return self.score(self.counts(gold, predicted, scheme))


def _tokens(
    tags: Sequence[str], predicted: Sequence[str], scheme: str
) -> tuple[int, int, int]:
    # IOBES tags are compared as IOB2, so that the score does not depend on the
    # scheme of training.
    pairs = zip(_as_iob2(tags, scheme), _as_iob2(predicted, scheme))
    right = sum(a == b for a, b in pairs)
    return right, len(tags), len(tags)


def _spans(
    tags: Sequence[str], predicted: Sequence[str], scheme: str
) -> tuple[int, int, int]:
    from seqeval.metrics import sequence_labeling

    _check_spans(scheme)
    spans = [
        set(sequence_labeling.get_entities(list(side)))
        for side in (tags, predicted)
    ]
    return len(spans[0] & spans[1]), len(spans[1]), len(spans[0])


def _strict_spans(
    tags: Sequence[str], predicted: Sequence[str], scheme: str
) -> tuple[int, int, int]:
    from seqeval import scheme as schemes

    _check_spans(scheme)
    rules = getattr(schemes, _STRICT[scheme])
    spans = [
        set(schemes.Entities([list(side)], rules).entities[0])
        for side in (tags, predicted)
    ]
    return len(spans[0] & spans[1]), len(spans[1]), len(spans[0])


def _f1(right: int, predicted: int, gold: int) -> float:
    precision, recall = right / predicted, right / gold
    return 2 * precision * recall / (precision + recall)


#: Percentage of tokens whose predicted tag is the right one.
token_accuracy = Metric(_tokens, lambda right, predicted, gold: right / gold)
#: Micro-averaged F1 of spans; a span is right if its type and both ends are.
#: Invalid sequences are read as by conlleval, the scorer of the shared tasks:
#: an I-X without a preceding B-X opens a span. The spans equal seqeval's.
span_f1 = Metric(_spans, _f1)
#: The same, but invalid sequences contain no spans.
span_f1_strict = Metric(_strict_spans, _f1)

METRICS: dict[str, Metric] = {
    "token_accuracy": token_accuracy,
    "span_f1": span_f1,
    "span_f1_strict": span_f1_strict,
}


def get(name: str) -> Metric:
    """The metric of that name.

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric of tagging")


def by_type(
    gold: Sentences, predicted: Sentences, scheme: str = ""
) -> dict[str, dict[str, Any]]:
    """Precision, recall and F1 of each span type, or of each tag of words.

    Args:
        gold: the right tags of each sentence.
        predicted: the predicted tags.
        scheme: the scheme of both; "" for tags of words.

    Returns:
        {type: {"precision": score, "recall": score, "f1": score,
                "support": count}}, sorted; support counts the gold ones.
    """
    if not scheme:
        return _by_tag(gold, complete(gold, predicted, _UNREAD))
    predicted = complete(gold, predicted)
    types = {
        span.type or "_"  # seqeval's name of it
        for tags in (*gold, *predicted)
        for span in span_schemes.spans(tags)
    }
    if not types:
        return {}
    from seqeval.metrics import sequence_labeling

    # seqeval refuses an empty list of sentences.
    precision, recall, _, support = (
        sequence_labeling.precision_recall_fscore_support(
            [*(list(tags) for tags in gold), []],
            [*predicted, []],
            average=None,
            zero_division=0,
        )
    )
    rows = map(_row, precision, recall, support)
    return dict(zip(sorted(types), rows, strict=True))


def _row(precision: float, recall: float, support: int) -> dict[str, Any]:
    total = precision + recall
    return {
        "precision": 100.0 * float(precision),
        "recall": 100.0 * float(recall),
        "f1": 200.0 * float(precision * recall / total) if total else 0.0,
        "support": int(support),
    }


def _by_tag(gold: Sentences, predicted: Sentences) -> dict[str, dict]:
    correct: Counter[str] = Counter()
    golds: Counter[str] = Counter()
    predictions: Counter[str] = Counter()
    for tags, predicted_tags in zip(gold, predicted):
        golds.update(tags)
        predictions.update(predicted_tags)
        correct.update(a for a, b in zip(tags, predicted_tags) if a == b)
    del predictions[_UNREAD]  # A Counter needs no key for it.
    return {
        tag: _row(
            correct[tag] / max(predictions[tag], 1),
            correct[tag] / max(golds[tag], 1),
            golds[tag],
        )
        for tag in sorted(golds | predictions)
    }


def _check_spans(scheme: str) -> None:
    if scheme not in _STRICT:
        raise ConfigError(
            "span_f1 needs tags of spans (scheme iob2 or iobes), got the "
            f"scheme {scheme!r}"
        )


def conll_lines(
    tokens: Sentences,
    gold: Sentences,
    predicted: Sentences,
    scheme: str = "",
) -> Iterator[str]:
    """Yields `token gold predicted` lines for conlleval and other scorers.

    Columns are separated by one space, sentences by a blank line. IOBES tags
    are written as IOB2, which every scorer reads; other tags are unchanged.
    White space within a token or tag becomes `_`, as it would start another
    column.

    Args:
        tokens: the tokens of each sentence.
        gold: the right tags of each sentence.
        predicted: the predicted tags.
        scheme: the scheme of the tags; "" for tags of words.

    Raises:
        ValueError: the lengths of tokens, tags and predictions differ.
    """
    sentences = zip(tokens, gold, complete(gold, predicted), strict=True)
    for words, gold_tags, predicted_tags in sentences:
        yield conll_sentence(
            words, _as_iob2(gold_tags, scheme), _as_iob2(predicted_tags, scheme)
        )


def conll_sentence(tokens: Sequence[str], *columns: Sequence[str]) -> str:
    """The lines of a sentence's columns, and a blank line.

    Args:
        tokens: the tokens.
        columns: columns of tags, as long as the tokens. White space within a
            token or tag becomes `_`.

    Raises:
        ValueError: the lengths of tokens and columns differ.
    """
    lines = [
        " ".join("_".join(cell.split()) or "_" for cell in cells)
        for cells in zip(tokens, *columns, strict=True)
    ]
    return "".join(f"{line}\n" for line in [*lines, ""])


def _as_iob2(tags: Sequence[str], scheme: str) -> Sequence[str]:
    return span_schemes.convert(tags, "iob2") if scheme == "iobes" else tags


def names_of(
    numbers: Iterable[Iterable[int]], labels: Sequence[str]
) -> list[list[str]]:
    """Converts sentences of tag ids to sentences of tag names."""
    return [[labels[number] for number in sentence] for sentence in numbers]
