"""Reads QA-SRL Bank 2.0: JSON, one sentence a line."""

from collections import Counter
from collections.abc import Iterator, Sequence

from mtl_tf.datasets.json_values import JsonValue, read_json_lines
from mtl_tf.datasets.lines import LineFile, Oddities
from mtl_tf.datasets.qa_srl.words import plain
from mtl_tf.datasets.question_answers import QuestionAnswer


def read(file: LineFile) -> list[QuestionAnswer]:
    """The questions that more than half of their judges consider valid.

    Every span that a judge gave is an answer. They are sorted by the number of
    judges, and then by order of occurrence.

    Raises:
        DataError: a line differs from the format; the message names `file:line`
            and the path in its JSON.
    """
    odd, rows = Oddities(file), []
    for number, line in read_json_lines(file):
        rows += _sentence(number, line, odd)
    odd.report()
    return rows


def _sentence(
    number: int, line: JsonValue, odd: Oddities
) -> Iterator[QuestionAnswer]:
    name = line.get("sentenceId", str).value
    tokens = [
        plain(token.value)
        for token in line.get("sentenceTokens", list).items(str)
    ]
    for verb in line.get("verbEntries", dict).items(dict):
        place = verb.get("verbIndex", int).value
        labels = verb.get("questionLabels", dict).items(dict)
        for index, label in enumerate(labels):
            question = label.get("questionString", str).value.strip()
            judgements = list(label.get("answerJudgments", list).items(dict))
            valid = [x for x in judgements if x.get("isValid", bool).value]
            answers = _answers(valid, tokens, number, odd)
            if not 2 * len(valid) > len(judgements):
                odd.add(
                    "question", "not valid to most judges, left out", number
                )
            elif not question:
                odd.add("question", "without a text, left out", number)
            elif not answers:
                odd.add("question", "without an answer, left out", number)
            else:
                yield QuestionAnswer(
                    question,
                    " ".join(tokens),
                    answers,
                    f"{name}/{place}/{index}",
                )


def _answers(
    judgements: Sequence[JsonValue],
    tokens: Sequence[str],
    line: int,
    odd: Oddities,
) -> tuple[str, ...]:
    votes: Counter[str] = Counter()
    for judgement in judgements:
        spans = list(judgement.get("spans", list).items(list))
        if not spans:
            odd.add("judgement", "valid but without an answer", line)
        # A judge has one vote for a text, even if it occurs several times.
        texts = [_text(span, tokens) for span in spans]
        votes.update(dict.fromkeys(texts, 1))
    return tuple(text for text, _ in votes.most_common() if text.strip())


def _text(span: JsonValue, tokens: Sequence[str]) -> str:
    ends = [end.value for end in span.items(int)]
    if len(ends) != 2 or not 0 <= ends[0] < ends[1] <= len(tokens):
        raise span.wrong(
            "[begin, end) of an answer among the sentence's "
            f"{len(tokens)} tokens"
        )
    return " ".join(tokens[slice(*ends)])
