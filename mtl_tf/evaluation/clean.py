"""The clean part of a test set: texts that no task was trained on.

In the released FDU-MTL data, up to 169 of a task's 400 test texts are also in
training files. A score on all examples rewards memorising them. So every score
is also given on the clean part: the examples whose text is in no training or
validation text of the whole group of tasks. It does not depend on which tasks a
run trains, so runs are comparable.
"""

import hashlib
from collections.abc import Iterable

import numpy as np


def normalize(text: str | bytes) -> str:
    """Makes texts equal that differ only in white space."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    return " ".join(text.split())


class SeenTexts:
    """A set of texts, compared after `normalize`.

    It stores digests, about 100 bytes per text with Python's overhead.

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
        """Whether each text is not in the set.

        Returns:
            bool [n], in the order of `texts`.
        """
        return np.array([text not in self for text in texts], dtype=bool)

    def count(self, texts: Iterable[str | bytes]) -> int:
        """The number of texts that are in the set.

        For a set of a task's training texts and its validation texts as
        argument, it counts the validation texts that model selection cannot
        trust.
        """
        return sum(text in self for text in texts)


def _digest(text: str | bytes) -> bytes:
    encoded = normalize(text).encode("utf-8", errors="surrogatepass")
    return hashlib.blake2b(encoded, digest_size=16).digest()
