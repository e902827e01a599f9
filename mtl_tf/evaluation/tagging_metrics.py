"""Scores of tagged sentences, from 0 to 100, and files for other scorers.

Sentences are sequences of tag names. A prediction may be shorter than its
sentence, where a model read only `text.max_length` tokens: what it did not
read counts as `O`, or as wrong where the tags are not those of spans.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.text import span_schemes

Sentences = Sequence[Sequence[str]]
MODES = ("conlleval", "strict")
_STRICT = {"iob2": "IOB2", "iobes": "IOBES"}


def complete(gold: Sentences, predicted: Sentences) -> list[list[str]]:
    """The predictions, as long as their sentences.

    Raises:
        ValueError: there are more or fewer predictions than sentences, or
            one has more tags than its sentence.
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
        missing = [span_schemes.OUTSIDE] * (len(tags) - len(predicted_tags))
        completed.append([*predicted_tags, *missing])
    return completed


def token_accuracy(
    gold: Sentences, predicted: Sentences, scheme: str = ""
) -> float:
    """Percentage of tokens whose predicted tag is the right one.

    Args:
        gold: the right tags of each sentence.
        predicted: the predicted ones.
        scheme: of both. Tags of IOBES are compared as those of IOB2, so that
            the scheme of training does not change the score.

    Returns:
        A score from 0 to 100; 0 if there are no tokens.
    """
    correct = total = 0
    for tags, predicted_tags in zip(gold, complete(gold, predicted)):
        pairs = zip(_as_iob2(tags, scheme), _as_iob2(predicted_tags, scheme))
        correct += sum(a == b for a, b in pairs)
        total += len(tags)
    return 100.0 * correct / total if total else 0.0


def span_f1(
    gold: Sentences,
    predicted: Sentences,
    scheme: str = "iob2",
    mode: str = "conlleval",
) -> float:
    """Micro-averaged F1 of spans: right where type and both ends are right.

    Args:
        gold: the right tags of each sentence.
        predicted: the predicted ones.
        scheme: of both: "iob2" or "iobes".
        mode: "conlleval" reads wrong sequences as the scorer of the shared
            tasks does (an I-X that nothing opened opens a span); "strict" sees
            no span in what is not written as the scheme demands. Both are
            seqeval's.

    Returns:
        A score from 0 to 100; 0 if there is no span.

    Raises:
        ConfigError: an unknown mode, or tags that are not those of spans.
    """
    _, _, f1, _ = _scores(gold, predicted, scheme, mode, "micro")
    return 100.0 * float(f1)


def span_f1_strict(
    gold: Sentences, predicted: Sentences, scheme: str = "iob2"
) -> float:
    """`span_f1` in the mode "strict"."""
    return span_f1(gold, predicted, scheme, "strict")


METRICS: dict[str, Callable[..., float]] = {
    "token_accuracy": token_accuracy,
    "span_f1": span_f1,
    "span_f1_strict": span_f1_strict,
}


def get(name: str) -> Callable[..., float]:
    """The metric of that name: a function (gold, predicted, scheme).

    Raises:
        ConfigError: there is none; the message offers the nearest names.
    """
    return look_up(name, METRICS, "metric of tagging")


def by_type(
    gold: Sentences, predicted: Sentences, scheme: str = ""
) -> dict[str, dict[str, Any]]:
    """Precision, recall and F1 of each type of span, or of each tag of words.

    Args:
        gold: the right tags of each sentence.
        predicted: the predicted ones.
        scheme: of both; "" for tags of words.

    Returns:
        {type: {"precision": score, "recall": score, "f1": score,
                "support": count}}, sorted; support is how many are right.
    """
    if not scheme:
        return _by_tag(gold, complete(gold, predicted))
    predicted = complete(gold, predicted)
    types = {
        span.type or "_"  # as seqeval calls it
        for tags in (*gold, *predicted)
        for span in span_schemes.spans(tags)
    }
    if not types:
        return {}
    precision, recall, _, support = _scores(
        gold, predicted, scheme, "conlleval", None
    )
    rows = map(_row, precision, recall, support)
    return dict(zip(sorted(types), rows, strict=True))


def _row(precision: float, recall: float, support: int) -> dict[str, Any]:
    both = precision + recall
    return {
        "precision": 100.0 * float(precision),
        "recall": 100.0 * float(recall),
        "f1": 200.0 * float(precision * recall / both) if both else 0.0,
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
    return {
        tag: _row(
            correct[tag] / max(predictions[tag], 1),
            correct[tag] / max(golds[tag], 1),
            golds[tag],
        )
        for tag in sorted(golds | predictions)
    }


def _scores(
    gold: Sentences,
    predicted: Sentences,
    scheme: str,
    mode: str,
    average: str | None,
) -> tuple[Any, Any, Any, Any]:
    """seqeval's precision, recall, F1 and support, of all or of each type."""
    checks.one_of("mode", mode, MODES)
    if scheme not in _STRICT:
        raise ConfigError(
            "span_f1 needs tags of spans (scheme iob2 or iobes), got the "
            f"scheme {scheme!r}"
        )
    from seqeval import scheme as schemes
    from seqeval.metrics import sequence_labeling, v1

    score, options = sequence_labeling.precision_recall_fscore_support, {}
    if mode == "strict":
        score = v1.precision_recall_fscore_support
        options = {"scheme": getattr(schemes, _STRICT[scheme])}
    # seqeval does not take an empty list of sentences.
    predicted = [*complete(gold, predicted), []]
    gold = [*(list(tags) for tags in gold), []]
    return score(gold, predicted, average=average, zero_division=0, **options)


def conll_lines(
    tokens: Sentences,
    gold: Sentences,
    predicted: Sentences,
    scheme: str = "",
) -> Iterator[str]:
    """Yields `token gold predicted` lines, which conlleval and others read.

    Columns are separated by one space, sentences by a blank line. Tags of
    IOBES are written in IOB2, which every scorer reads; others as they are.
    White space within a token becomes `_`, since it would make another column.

    Args:
        tokens: of each sentence.
        gold: the right tags of each sentence.
        predicted: the predicted ones.
        scheme: of the tags; "" for tags of words.

    Raises:
        ValueError: tokens, tags and predictions do not fit together.
    """
    sentences = zip(tokens, gold, complete(gold, predicted), strict=True)
    for words, gold_tags, predicted_tags in sentences:
        yield conll_sentence(
            words, _as_iob2(gold_tags, scheme), _as_iob2(predicted_tags, scheme)
        )


def conll_sentence(tokens: Sequence[str], *columns: Sequence[str]) -> str:
    """The lines of a sentence's columns, and the blank line behind it.

    Args:
        tokens: white space within one becomes `_`.
        columns: of tags, as long as the tokens.

    Raises:
        ValueError: tokens and columns do not fit together.
    """
    lines = [
        " ".join(["_".join(token.split()) or "_", *tags])
        for token, *tags in zip(tokens, *columns, strict=True)
    ]
    return "".join(f"{line}\n" for line in [*lines, ""])


def _as_iob2(tags: Sequence[str], scheme: str) -> Sequence[str]:
    return span_schemes.convert(tags, "iob2") if scheme == "iobes" else tags


def names_of(
    numbers: Iterable[Iterable[int]], labels: Sequence[str]
) -> list[list[str]]:
    """Sentences of tag numbers as sentences of tag names."""
    return [[labels[number] for number in sentence] for sentence in numbers]
