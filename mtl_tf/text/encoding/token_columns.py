"""The meaning of an encoded text's ids, and where the text was cut."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.text.tokenizers.joining import cut_longest_first

Examples = Mapping[str, tf.Tensor | tf.RaggedTensor]

#: The kinds of a `ShownToken`.
KNOWN, UNKNOWN, SPECIAL, CUT = "known", "unknown", "special", "cut"


class ShownToken(NamedTuple):
    """A token as a model reads it, or a place where a text was cut.

    Attributes:
        kind: `KNOWN`, `UNKNOWN`, `SPECIAL` or `CUT`.
        text: the written token; for an unknown one, as it is in the text; for a
            cut, the number of tokens left out.
    """

    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class TokenColumn:
    """A column of ids, and how it was made from texts.

    Attributes:
        texts: names of the features that are joined in it.
        names: the meaning of the ids. Ids after the last name are words that
            the vocabulary lacks.
        unknown: the id of the unknown word.
        written: maps examples and one name of `texts` to its tokens without
            cutting, string [n, None].
        limit: the most ids of an example, the rest is cut; 0 for no limit.
        special: number of special tokens before the first text, between two
            texts and after the last one.
    """

    texts: Sequence[str]
    names: Sequence[str]
    unknown: int
    written: Callable[[Examples, str], tf.RaggedTensor]
    limit: int = 0
    special: tuple[int, int, int] = (0, 1, 0)

    def is_unknown(self, ids: np.ndarray) -> np.ndarray:
        """Which ids stand for unknown words: bool, in the shape of `ids`."""
        return (ids == self.unknown) | (ids >= len(self.names))

    def whole_lengths(self, examples: Examples) -> np.ndarray:
        """How long the ids of examples would be without cutting, int64 [n]."""
        lengths = [
            self.written(examples, name).row_lengths().numpy()
            for name in self.texts
        ]
        return np.sum(lengths, axis=0) + self._specials

    def shown_tokens(
        self, ids: Sequence[int], example: Examples
    ) -> list[ShownToken]:
        """The tokens of an example's ids, and where it was cut.

        Args:
            ids: the ids of the example.
            example: a batch of only this example.
        """
        parts = [
            [tf.compat.as_text(token) for token in row.numpy()]
            for row in (self.written(example, n)[0] for n in self.texts)
        ]
        room = max(len(ids) - self._specials, 0)
        lengths = [tf.constant([len(part)], tf.int64) for part in parts]
        counts = [int(n[0]) for n in cut_longest_first(lengths, room)]
        before, between, after = self.special
        left = iter(map(int, ids))
        tokens = self._special_tokens(left, before)
        for number, (part, count) in enumerate(zip(parts, counts)):
            if number:
                tokens += self._special_tokens(left, between)
            # The tokens come first: `zip` consumes one more item of its first
            # argument.
            tokens += [self._token(i, t) for t, i in zip(part[:count], left)]
            if count < len(part):
                tokens.append(ShownToken(CUT, str(len(part) - count)))
        return tokens + self._special_tokens(left, after)

    @property
    def _specials(self) -> int:
        before, between, after = self.special
        return before + between * (len(self.texts) - 1) + after

    def _token(self, number: int, text: str) -> ShownToken:
        if self.is_unknown(np.asarray(number)):
            return ShownToken(UNKNOWN, text)
        return ShownToken(KNOWN, self.names[number])

    def _special_tokens(self, ids, count: int) -> list[ShownToken]:
        return [
            ShownToken(SPECIAL, self.names[i].removeprefix("\\"))
            for _, i in zip(range(count), ids)
        ]
