"""The words whose learnt vectors are nearest to those of given words."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import DataError
from mtl_tf.evaluation.tables import grid
from mtl_tf.figures.carried_spaces import Pieces
from mtl_tf.runs.loaded_run import Run
from mtl_tf.text.translation import TranslationText


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """The words that a run has nearest to a word.

    Attributes:
        word: the word.
        nearest: words, as `pieces.Pieces` shows them, and the cosines of
            their vectors with the word's, the nearest first.
    """

    word: str
    nearest: tuple[tuple[str, float], ...]


def read(
    run: Run, words: Sequence[str], count: int = 3, label: str = ""
) -> list[Neighbours]:
    """The neighbours of words by the cosine of a run's word vectors.

    Table 6 of Dong et al. (2015). Of a run that translates they are the
    vectors of the source language, which all pairs share.

    Args:
        run: of any type; of one that was fine-tuned task by task the weights
            are those that are loaded.
        words: the words, each one token of the run's vocabulary.
        count: neighbours of each.
        label: how messages name the run.

    Raises:
        DataError: a word is none of the run's tokens.
    """
    checks.positive_integer("count", count)
    translates = isinstance(run.encoder, TranslationText)
    encoder = run.encoder.source if translates else run.encoder
    part = run.model.encoder if translates else run.model
    vectors = part.embedding.vectors.numpy().astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.maximum(lengths, 1e-12)
    tokens, shown = encoder.vocabulary.tokens, Pieces(encoder)
    found = []
    for word in words:
        place = _place(encoder, word, label)
        cosines = units @ units[place]
        # Padding and the unknown word are no neighbours, nor is it itself.
        cosines[[encoder.vocabulary.PAD, encoder.vocabulary.OOV, place]] = -2
        best = np.argsort(-cosines, kind="stable")[:count]
        nearest = ((shown(tokens[n]), float(cosines[n])) for n in best)
        found.append(
            Neighbours(word, tuple(one for one in nearest if one[1] >= -1.01))
        )
    return found


def _place(encoder: Any, word: str, label: str) -> int:
    """The id of a word.

    Raises:
        DataError: it is not exactly one token that the vocabulary has.
    """
    [tokens] = encoder.tokenizer(tf.constant([word])).to_list()
    if len(tokens) != 1:
        shown = " ".join(token.decode() for token in tokens) or "nothing"
        raise DataError(
            f"the run {label} reads {word!r} as {shown}: only the vector of "
            "one token has neighbours; give another word"
        )
    place = int(encoder.vocabulary.lookup(tf.constant(tokens))[0])
    if place == encoder.vocabulary.OOV:
        raise DataError(
            f"the run {label} does not know the word {word!r}: it is not in "
            "its vocabulary"
        )
    return place


def to_json(found: Mapping[str, Sequence[Neighbours]]) -> dict[str, Any]:
    """By run, then by word, the neighbours with their cosines."""
    return {
        label: {
            one.word: [
                {"word": word, "cosine": cosine} for word, cosine in one.nearest
            ]
            for one in words
        }
        for label, words in found.items()
    }


def markdown(found: Mapping[str, Sequence[Neighbours]]) -> str:
    """The neighbours as a Markdown table, a column a run."""
    columns = [
        [
            ", ".join(f"{word} {cosine:.2f}" for word, cosine in one.nearest)
            for one in words
        ]
        for words in found.values()
    ]
    names = [one.word for one in next(iter(found.values()))]
    rows = [list(row) for row in zip(names, *columns)]
    return grid(["word", *found], rows, numeric=False) + "\n"
