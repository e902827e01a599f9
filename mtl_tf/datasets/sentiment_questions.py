"""Two-class texts in the form of questions (McCann et al. 2018, Fig. 1)."""

from collections.abc import Sequence

from mtl_tf.datasets.lines import LabelledText
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.text_class_builder import POLARITIES

QUESTION = "Is this sentence positive or negative?"


def cast(rows: Sequence[LabelledText], split: str) -> list[QuestionAnswer]:
    """One example per text, with the answer `negative` or `positive`.

    Args:
        rows: texts and their labels, 0 or 1.
        split: the split, for the names of the examples.
    """
    return [
        QuestionAnswer(
            QUESTION, text, (POLARITIES[label],), f"{split}_{number}"
        )
        for number, (text, label) in enumerate(rows)
    ]
