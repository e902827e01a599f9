"""Learns word vectors from texts, by word2vec or fastText (with gensim)."""

import logging as standard_logging
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core import checks, files
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.random import fold

ALGORITHMS = ("skipgram", "cbow", "fasttext")
_LONGEST = 10_000  # gensim cuts longer texts


class TokenStore:
    """Tokenised texts that can be iterated over repeatedly.

    It stores four bytes per token, and every word once.
    """

    def __init__(self):
        self._ids: dict[str, int] = {}
        self._texts: list[np.ndarray] = []
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, words: Iterable[str]) -> None:
        """Adds a text."""
        ids = self._ids
        text = [ids.setdefault(word, len(ids)) for word in words]
        self.tokens += len(text)
        for start in range(0, len(text), _LONGEST):
            part = text[start : start + _LONGEST]
            self._texts.append(np.array(part, np.int32))

    def __iter__(self) -> Iterator[list[str]]:
        words = list(self._ids)
        for text in self._texts:
            yield [words[index] for index in text]


def learn(
    texts: TokenStore,
    dimension: int = 200,
    algorithm: str = "skipgram",
    epochs: int = 10,
    window: int = 5,
    min_count: int = 2,
    seed: int = 0,
    workers: int = 1,
) -> tuple[list[str], np.ndarray]:
    """Learns a vector for every frequent word.

    Args:
        texts: the training texts.
        dimension: numbers per word.
        algorithm: "skipgram" or "cbow" (Mikolov et al. 2013), or "fasttext":
            skip-gram over words and their character n-grams (Bojanowski et al.
            2017).
        epochs: passes over the texts.
        window: number of words on either side that are predicted.
        min_count: minimum number of occurrences of a word.
        seed: seed of the initial vectors and of all sampling.
        workers: number of threads. Results are reproducible only with one.

    Returns:
        The words, most frequent first, and float32 [words, dimension].

    Raises:
        ConfigError: a wrong argument, or gensim is not installed.
        DataError: no word is frequent enough.
    """
    checks.one_of("algorithm", algorithm, ALGORITHMS)
    options = {
        "vector_size": checks.positive_integer("dimension", dimension),
        "epochs": checks.positive_integer("epochs", epochs),
        "window": checks.positive_integer("window", window),
        "min_count": checks.positive_integer("min_count", min_count),
        "workers": checks.positive_integer("workers", workers),
        "seed": fold(seed, "word vectors") % 2**31,
        "sg": int(algorithm != "cbow"),
    }
    models = require()
    kind = models.FastText if algorithm == "fasttext" else models.Word2Vec
    model = kind(**options)
    model.build_vocab(texts)
    if not len(model.wv):
        raise DataError(
            f"no word occurs {min_count} times in {len(texts):,} texts: give "
            "more text or a lower min_count"
        )
    logging.info("%s words get a vector.", f"{len(model.wv):,}")
    model.train(
        texts,
        total_examples=model.corpus_count,
        epochs=epochs,
        callbacks=[_progress(epochs)],
    )
    return list(model.wv.index_to_key), np.asarray(model.wv.vectors)


def write_vectors(path: str, words: Sequence[str], vectors: np.ndarray) -> None:
    """Writes vectors in word2vec's text format, which `load_vectors` reads.

    The file is written under another name and then renamed, so it is complete
    or absent.

    Args:
        path: path of the file.
        words: words without ASCII white space.
        vectors: float [words, dimension].
    """
    with (
        files.replacing(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors):
            numbers = " ".join(f"{number:.6g}" for number in vector)
            file.write(f"{word} {numbers}\n")


def require() -> Any:
    """Imports the models of gensim.

    Raises:
        ConfigError: gensim is not installed.
    """
    try:
        from gensim import models
    except ImportError as error:
        raise ConfigError(
            "learning word vectors needs the package gensim, which cannot be "
            f'imported ({error}): install it by pip install "mtl_tf[vectors]"'
        )
    # gensim logs every chunk; a message per epoch is enough.
    standard_logging.getLogger("gensim").setLevel(standard_logging.WARNING)
    return models


def _progress(epochs: int) -> Any:
    from gensim.models.callbacks import CallbackAny2Vec

    class Progress(CallbackAny2Vec):
        """Logs every epoch."""

        def __init__(self):
            self.epoch = 0
            self.start = time.monotonic()

        def on_epoch_end(self, model: Any) -> None:
            del model
            self.epoch += 1
            seconds = time.monotonic() - self.start
            left = seconds / self.epoch * (epochs - self.epoch)
            logging.info(
                "epoch %d of %d, %.0f s, about %.0f s left",
                self.epoch,
                epochs,
                seconds,
                left,
            )

    return Progress()
