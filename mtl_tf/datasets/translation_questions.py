"""Pairs of texts in the form of questions (McCann et al. 2018)."""

from collections.abc import Sequence

from mtl_tf.datasets.parallel_lines import TextPair
from mtl_tf.datasets.question_answers import QuestionAnswer

LANGUAGES = {
    "ar": "Arabic",
    "cs": "Czech",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
}


def cast(
    pairs: Sequence[TextPair], languages: str, split: str
) -> list[QuestionAnswer]:
    """One example per pair: the source is the context, the target the answer.

    Args:
        pairs: source and target texts.
        languages: the codes of both languages, such as "en-de".
        split: the split, for the names of the examples.
    """
    source, target = (LANGUAGES[code] for code in languages.split("-"))
    question = f"What is the translation from {source} to {target}?"
    return [
        QuestionAnswer(question, text, (answer,), f"{split}_{number}")
        for number, (text, answer) in enumerate(pairs)
    ]
