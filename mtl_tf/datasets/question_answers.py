"""What the builders of corpora that are cast as question answering share.

McCann et al. (2018), section 2: every example is a question, a context and an
answer. Texts keep their case and spacing; a model's text settings may change
them.
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
        question: what is asked.
        context: what the answer is found in or follows from.
        answers: all that count as right, at least one; the first is the one
            that a model learns.
        id: names the example in the corpus's files, and in predictions.
        scoring: what the task's metric has to know beyond the answers, for
            JSON; see `mtl_tf.evaluation.answer_metrics`.
    """

    question: str
    context: str
    answers: tuple[str, ...]
    id: str
    scoring: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def dataset_info(builder: tfds.core.DatasetBuilder) -> tfds.core.DatasetInfo:
    """Features `question`, `context`, `answer`, `answers`, `id`, `scoring`.

    `answer` is the first of `answers`; `scoring` is JSON, "{}" for nothing.

    Args:
        builder: whose information it is.
    """
    text = tfds.features.Text
    return builder.dataset_info_from_configs(
        features=tfds.features.FeaturesDict(
            {
                "question": text(),
                "context": text(),
                "answer": text(),
                "answers": tfds.features.Sequence(text()),
                "id": text(),
                "scoring": text(),
            }
        ),
        disable_shuffling=True,
        metadata=tfds.core.MetadataDict(),
    )


def examples(
    rows: Iterable[QuestionAnswer],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbers `rows` as TFDS wants them."""
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
