"""What the ids of an encoded text stand for, and what was cut of it."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.text.joining import cut_longest_first

Examples = Mapping[str, tf.Tensor | tf.RaggedTensor]

#: What a `ShownToken` is.
KNOWN, UNKNOWN, SPECIAL, CUT = "known", "unknown", "special", "cut"


class ShownToken(NamedTuple):
    """A token as a model reads it, or a place where a text was cut.

    Attributes:
        kind: `KNOWN`, `UNKNOWN`, `SPECIAL` or `CUT`.
        text: the written token; of an unknown one that of the text; of a cut
            how many tokens are left out.
    """

    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class TokenColumn:
    """A column of ids, and how it was made of texts.

    Attributes:
        texts: names of the features that stand in it one after another.
        names: what the ids stand for. Ids behind the last one are those of
            words that the vocabulary lacks.
        unknown: the id of the unknown word.
        written: from examples, and the name of one of `texts`, to its tokens,
            whole: string [n, None].
        is_cut: whether long texts are cut.
        special: how many special tokens stand before the first text, between
            two texts and behind the last one.
    """

    texts: Sequence[str]
    names: Sequence[str]
    unknown: int
    written: Callable[[Examples, str], tf.RaggedTensor]
    is_cut: bool = False
    special: tuple[int, int, int] = (0, 1, 0)

    def is_unknown(self, ids: np.ndarray) -> np.ndarray:
        """Which ids stand for unknown words: bool, as integers `ids`."""
        return (ids == self.unknown) | (ids >= len(self.names))

    def whole_lengths(self, examples: Examples) -> np.ndarray:
        """How long the ids of examples were if nothing were cut, int64 [n]."""
        lengths = [
            self.written(examples, name).row_lengths().numpy()
            for name in self.texts
        ]
        return np.sum(lengths, axis=0) + self._specials

    def shown_tokens(
        self, ids: Sequence[int], example: Examples
    ) -> list[ShownToken]:
        """What the ids of an example stand for, and where it was cut.

        Args:
            ids: of the example.
            example: a batch of this one.
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
            # The tokens first: `zip` takes one more of what comes first.
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
