"""Examples of corpora in the form of question answering.

McCann et al. (2018), section 2: every example is a question, a context and an
answer. Texts keep their case and spacing, which a model's text settings may
change.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow_datasets as tfds


@dataclasses.dataclass(frozen=True)
class QuestionAnswer:
    """One example.

    Attributes:
        question: the question.
        context: the text that contains or implies the answer.
        answers: all right answers, at least one; a model learns the first.
        id: the example's name in the corpus's files, and in predictions.
        scoring: what the task's metric needs besides the answers, as JSON
            values; see `mtl_tf.evaluation.metrics.answer_metrics`.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    id: str
    scoring: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def features() -> dict[str, tfds.features.FeatureConnector]:
    """Features `question`, `context`, `answer`, `answers`, `id`, `scoring`.

    `answer` is the first of `answers`; `scoring` is JSON, "{}" for nothing.
    """
    text = tfds.features.Text
    return {
        "question": text(),
        "context": text(),
        "answer": text(),
        "answers": tfds.features.Sequence(text()),
        "id": text(),
        "scoring": text(),
    }


def examples(
    rows: Iterable[QuestionAnswer],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers `rows` as TFDS requires."""
    for index, row in enumerate(rows):
        yield (
            index,
            {
                "question": row.question,
                "context": row.context,
                "answer": row.answers[0],
                "answers": list(row.answers),
                "id": row.id,
                "scoring": json.dumps(row.scoring, sort_keys=True),
            },
        )
