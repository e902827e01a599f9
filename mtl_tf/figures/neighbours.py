"""The words whose learnt vectors are nearest to those of given words."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import DataError
from mtl_tf.evaluation.tables.markdown_grid import grid
from mtl_tf.figures.carried_spaces import Pieces
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.text.encoding.pieces import PieceEncoder
from mtl_tf.text.encoding.translation import TranslationText


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """The words that a run has nearest to a word.

    Attributes:
        word: the word.
        nearest: words, as `carried_spaces.Pieces` shows them, and the cosines
            of their vectors with the word's, the nearest first.
    """

    word: str
    nearest: tuple[tuple[str, float], ...]


def read(
    run: Run, words: Sequence[str], count: int = 3, label: str = ""
) -> list[Neighbours]:
    """The neighbours of words by the cosine of a run's word vectors.

    Table 6 of Dong et al. (2015). Of a run that translates they are the
    vectors of the source language, which all pairs share; of a pretrained
    encoder those that it reads its pieces from.

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
    table = _table(run)
    vectors = table.vectors.astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.maximum(lengths, 1e-12)
    neighbours = []
    for word in words:
        row = _place(table, word, label)
        cosines = units @ units[row]
        # Padding and the unknown word are no neighbours, nor is it itself.
        cosines[[*table.special, row]] = -2
        best = np.argsort(-cosines, kind="stable")[:count]
        nearest = ((table.text_of(n), float(cosines[n])) for n in best)
        neighbours.append(
            Neighbours(
                word, tuple(pair for pair in nearest if pair[1] >= -1.01)
            )
        )
    return neighbours


@dataclasses.dataclass(frozen=True)
class _Table:
    """The vectors of a run.

    Attributes:
        vectors: a row a token.
        special: rows of padding, the unknown word and other signs.
        unknown: the row of the unknown word.
        tokens_of: a word's tokens and their rows.
        text_of: how a row's token is shown.
    """

    vectors: np.ndarray
    special: tuple[int, ...]
    unknown: int
    tokens_of: Callable[[str], tuple[list[str], list[int]]]
    text_of: Callable[[int], str]


def _table(run: Run) -> _Table:
    if isinstance(run.encoder, PieceEncoder):
        return _table_of_pieces(run)
    translates = isinstance(run.encoder, TranslationText)
    encoder = run.encoder.source if translates else run.encoder
    part = run.model.encoder if translates else run.model
    vocabulary, pieces = encoder.vocabulary, Pieces(encoder)

    def tokens_of(word: str) -> tuple[list[str], list[int]]:
        [tokens] = encoder.tokenizer(tf.constant([word])).to_list()
        rows = vocabulary.lookup(tf.constant(tokens, tf.string)).numpy()
        return [token.decode() for token in tokens], rows.tolist()

    return _Table(
        part.embedding.vectors.numpy(),
        (vocabulary.PAD, vocabulary.OOV),
        vocabulary.OOV,
        tokens_of,
        lambda row: pieces(vocabulary.tokens[row]),
    )


def _table_of_pieces(run: Run) -> _Table:
    """The pieces of a pretrained encoder, before any layer of it."""
    encoder, specials = run.encoder, run.encoder.specials
    signs = (*specials.start, *specials.separator, *specials.end)
    signs = (*signs, specials.pad, specials.unknown)

    def tokens_of(word: str) -> tuple[list[str], list[int]]:
        [numbers] = encoder.pieces_of(tf.constant([word])).to_list()
        rows = [number + 1 for number in numbers]
        return [encoder.pieces[row] for row in rows], rows

    return _Table(
        run.model.embedding.vectors.numpy(),
        (0, *(number + 1 for number in signs)),
        specials.unknown + 1,
        tokens_of,
        lambda row: encoder.pieces[row],
    )


def _place(table: _Table, word: str, label: str) -> int:
    """The row of a word.

    Raises:
        DataError: it is not exactly one token that the vocabulary has.
    """
    tokens, rows = table.tokens_of(word)
    if len(tokens) != 1:
        raise DataError(
            f"the run {label} reads {word!r} as {' '.join(tokens) or 'nothing'}"
            ": only the vector of one token has neighbours; give another word"
        )
    if rows[0] == table.unknown:
        raise DataError(
            f"the run {label} does not know the word {word!r}: it is not in "
            "its vocabulary"
        )
    return rows[0]


def to_json(runs: Mapping[str, Sequence[Neighbours]]) -> dict[str, Any]:
    """By run, then by word, the neighbours with their cosines."""
    return {
        label: {
            entry.word: [
                {"word": word, "cosine": cosine}
                for word, cosine in entry.nearest
            ]
            for entry in words
        }
        for label, words in runs.items()
    }


def markdown(runs: Mapping[str, Sequence[Neighbours]]) -> str:
    """The neighbours as a Markdown table, a column a run."""
    columns = [
        [
            ", ".join(f"{word} {cosine:.2f}" for word, cosine in entry.nearest)
            for entry in words
        ]
        for words in runs.values()
    ]
    names = [entry.word for entry in next(iter(runs.values()))]
    rows = [list(row) for row in zip(names, *columns)]
    return grid(["word", *runs], rows, numeric=False) + "\n"
