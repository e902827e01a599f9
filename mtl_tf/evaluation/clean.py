"""The clean part of a test set: texts that nobody has trained on.

In the released FDU-MTL data up to 169 of a task's 400 test texts also stand
in training files. A score on all examples rewards remembering them, so every
score is given on the clean part as well: those examples whose text occurs in
no training or validation text of the whole group of tasks. The part does not
depend on which tasks a run trains, so runs can be compared.
"""

import hashlib
from collections.abc import Iterable

import numpy as np


def normalize(text: str | bytes) -> str:
    """Makes texts that differ in white space only equal."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    return " ".join(text.split())


class SeenTexts:
    """A set of texts, compared after `normalize`.

    It keeps digests, about 100 bytes a text with Python's own, not the texts.

    Args:
        collections: iterables of texts (str or UTF-8 bytes), such as the
            training and validation texts of every task of a group.
    """

    def __init__(self, *collections: Iterable[str | bytes]):
        self._digests: set[bytes] = set()
        for texts in collections:
            self.add(texts)

    def add(self, texts: Iterable[str | bytes]) -> None:
        """Adds texts."""
        self._digests.update(map(_digest, texts))

    def merge(self, other: "SeenTexts") -> None:
        """Adds the texts of another set."""
        self._digests |= other._digests

    def __contains__(self, text: str | bytes) -> bool:
        return _digest(text) in self._digests

    def __len__(self) -> int:
        return len(self._digests)

    def clean(self, texts: Iterable[str | bytes]) -> np.ndarray:
        """Which texts are not in the set.

        Returns:
            bool [n], in the order of `texts`.
        """
        return np.array([text not in self for text in texts], dtype=bool)

    def count(self, texts: Iterable[str | bytes]) -> int:
        """How many of the texts are in the set.

        With a task's training texts in the set and its validation texts
        given, this is how many of them selection of a model cannot trust.
        """
        return sum(text in self for text in texts)


def _digest(text: str | bytes) -> bytes:
    encoded = normalize(text).encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(encoded, digest_size=16).digest()
