"""Pretrained word vectors from GloVe, word2vec and fastText text files."""

from collections.abc import Iterable

import numpy as np
from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.random import generator
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.vectors.vector_files import VectorFile
from mtl_tf.text.vectors.vector_report import VectorReport
from mtl_tf.text.vocabulary import Vocabulary

_RANGE = 0.1


def load_vectors(
    path: str, vocabulary: Vocabulary, dimension: int, seed: int
) -> tuple[np.ndarray, VectorReport]:
    """Reads the vectors of a vocabulary's words.

    The file is streamed: only rows of vocabulary words are kept, and only their
    numbers are parsed. Lines are `word number ... number`, separated by single
    spaces. Words may contain spaces (as in GloVe 840B), so a line is split from
    the right. A first line `rows dimension` is read as a header (word2vec,
    fastText). Its row count is only compared. If a word occurs twice, the first
    row counts.

    Args:
        path: the file, plain or gzip.
        vocabulary: a token is looked up by its word, without escapes and
            carried spaces (`▁the▁` takes the row of `the`).
        dimension: numbers per word.
        seed: seed for the words that the file lacks and the unknown word.
            Their values are uniform in [-0.1, 0.1), and depend on the seed and
            the word's id, not on the file.

    Returns:
        float32 [len(vocabulary), dimension]; the row of padding is zero. And a
        report of what was found.

    Raises:
        ConfigError: a wrong `dimension`.
        DataError: the file cannot be used; the message names `file:line`.
    """
    checks.positive_integer("dimension", dimension)
    matrix = _initial(len(vocabulary), dimension, seed)
    ids_of = _ids_by_word(vocabulary)
    file = VectorFile(path, dimension)
    words_read: set[bytes] = set()
    duplicates = 0
    for row in file.rows():
        ids = ids_of.get(row.word)
        if ids is None:
            continue
        if row.word in words_read:
            duplicates += 1
            continue
        words_read.add(row.word)
        matrix[ids] = file.numbers(row)
    tokens = [vocabulary.tokens[i] for word in words_read for i in ids_of[word]]
    report = VectorReport(
        path=path,
        dimension=dimension,
        words=len(vocabulary) - 2,
        found_tokens=frozenset(tokens),
        rows=file.row_count,
        header_rows=file.header_rows,
        skipped=file.skipped,
        duplicates=duplicates,
    )
    _log(report)
    return matrix, report


def with_vectors(path: str, tokens: Iterable[str], dimension: int) -> set[str]:
    """Those of the written tokens whose word is in a file of vectors.

    Args:
        path, dimension: as in `load_vectors`.
        tokens: the tokens.

    Raises:
        DataError: the file cannot be used.
    """
    by_word: dict[bytes, list[str]] = {}
    for token in tokens:
        word = escaping.surface(token).encode()
        if word:
            by_word.setdefault(word, []).append(token)
    rows = VectorFile(path, dimension).rows()
    return {token for row in rows for token in by_word.get(row.word, ())}


def _ids_by_word(vocabulary: Vocabulary) -> dict[bytes, list[int]]:
    """The ids that take the row of each word."""
    ids_of: dict[bytes, list[int]] = {}
    words = map(escaping.surface, vocabulary.tokens)
    for index, word in enumerate(words):
        if index > Vocabulary.OOV and word:
            ids_of.setdefault(word.encode(), []).append(index)
    return ids_of


def _initial(size: int, dimension: int, seed: int) -> np.ndarray:
    """Values in [-0.1, 0.1), which depend on the seed and a word's id."""
    random = generator(seed, "missing vectors")
    matrix = random.random([size, dimension], np.float32)
    matrix = (2 * matrix - 1) * np.float32(_RANGE)
    matrix[Vocabulary.PAD] = 0
    return matrix


def _log(report: VectorReport) -> None:
    logging.info("%s", report.summary())
    for warning in report.warnings():
        logging.warning("%s", warning)


__all__ = ["VectorReport", "load_vectors", "with_vectors"]
