"""The grammar behind the embedded corpus.

A text has one verdict, which the grammar decides, not a count of words:

- a denial reverses the word after it ("anything but dull");
- of two opposite clauses the main clause, or the one after "but", decides,
  in either order ("although X , Y" and "Y , although X");
- of a weakened and an intensified word the intensified one decides;
- some words praise in one domain and blame in another.

Every choice is a hash of (seed, domain, split, text, number of the choice). So
the corpus is the same on every machine and with every version of Python and
NumPy. This module does not need TensorFlow.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import TypeVar

from mtl_tf.core.random import fold
from mtl_tf.datasets.sample_reviews import DOMAINS, words

T = TypeVar("T")
Row = tuple[str, int]

SIZES = {"train": 300, "validation": 100, "test": 200, "unlabelled": 200}
SEED = 2018

MIN_TOKENS = 5

# The percentages of texts with features that a bag of words cannot read. They
# were tuned so that a linear model learns something, but not everything.
CONTRAST = 14
DEGREES = 8
DENIAL = 10
OWN_WORD = 25
SECOND_VERDICT = 40


class Choices:
    """A stream of choices that depends only on its seed and parts."""

    def __init__(self, seed: int, *parts: int | str):
        self._seed = fold(seed, *parts)
        self._count = 0

    def below(self, limit: int) -> int:
        """An integer from 0 to `limit` - 1."""
        self._count += 1
        return fold(self._seed, self._count) % limit

    def chance(self, percent: int) -> bool:
        """True in `percent` of 100 cases."""
        return self.below(100) < percent

    def one_of(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.below(len(options))]


class Review:
    """Writes one text of one domain.

    Args:
        domain: one of `DOMAINS`.
        choices: the source of random choices.
    """

    def __init__(self, domain: str, choices: Choices):
        self._choices = choices
        self._product = choices.one_of(words.THINGS[domain])
        self._past = choices.below(2)
        self._aspects = _shuffled(words.ASPECTS[domain], choices)
        self._fillers = _shuffled(words.FILLERS[domain], choices)
        self._flipping = {
            good: tuple(
                word
                for word, (praised, blamed) in words.FLIPPING.items()
                if domain in (praised if good else blamed)
            )
            for good in (False, True)
        }

    def text(self, good: bool) -> str:
        """The text; `good` is its verdict."""
        sentences = [self._verdict(good)]
        if self._choices.chance(SECOND_VERDICT):
            sentences.append(self._clause(good))
        for percent, position in ((35, 0), (25, len(sentences) + 1)):
            if self._choices.chance(percent):
                sentences.insert(position, self._fillers.pop())
        return " . ".join(sentences) + " ."

    def _verdict(self, good: bool) -> str:
        if self._choices.chance(CONTRAST):
            return self._contrast(good)
        if self._choices.chance(DEGREES):
            return self._degrees(good)
        if self._choices.chance(40):
            joint = self._choices.one_of(("and", ", and"))
            return f"{self._clause(good)} {joint} {self._clause(good)}"
        return self._clause(good)

    def _contrast(self, good: bool) -> str:
        win, lose = self._clause(good), self._clause(not good)
        return self._choices.one_of(words.CONTRASTS).format(win=win, lose=lose)

    def _degrees(self, good: bool) -> str:
        strong = self._choices.one_of(words.INTENSIFIERS)
        weak = self._choices.one_of(words.DOWNTONERS)
        clauses = [
            self._about(f"{strong} {self._word(good)}"),
            self._about(f"{weak} {self._word(not good)}"),
        ]
        if self._choices.chance(50):
            clauses.reverse()
        return " and ".join(clauses)

    def _clause(self, good: bool) -> str:
        if self._choices.chance(15):
            return self._whole(good)
        if self._choices.chance(DENIAL):
            return self._about(self._denied(good))
        described = self._word(good)
        if self._choices.chance(25):
            strong = self._choices.one_of(words.INTENSIFIERS)
            described = f"{strong} {described}"
        if self._choices.chance(15):
            described = f"{described} and {self._word(good)}"
        return self._about(described)

    def _denied(self, good: bool) -> str:
        if self._choices.chance(15):
            return f"{self._choices.one_of(words.TRAPS)} {self._word(good)}"
        return f"{self._choices.one_of(words.DENIALS)} {self._word(not good)}"

    def _about(self, described: str) -> str:
        if self._choices.chance(25):
            verb = ("is", "was")[self._past]
            return f"this {self._product} {verb} {described}"
        noun, plural = self._aspects.pop()
        verb = (("is", "was"), ("are", "were"))[plural][self._past]
        return f"{noun} {verb} {described}"

    def _whole(self, good: bool) -> str:
        clause = self._choices.one_of(words.PRAISES if good else words.BLAMES)
        subject = self._choices.one_of(("it", f"this {self._product}"))
        return clause.format(it=subject)

    def _word(self, good: bool) -> str:
        if self._choices.chance(OWN_WORD):
            return self._choices.one_of(self._flipping[good])
        return self._choices.one_of(words.GOOD if good else words.BAD)


def _shuffled(options: Sequence[T], choices: Choices) -> list[T]:
    return sorted(options, key=lambda _: choices.below(1 << 62))


@functools.lru_cache(maxsize=1)
def corpus(seed: int = SEED) -> Mapping[str, Mapping[str, tuple[Row, ...]]]:
    """The whole corpus: domain -> split -> rows of text and label.

    No text occurs twice in any domain or split, and half of the texts of every
    split are positive. All splits have labels, even the unlabelled one.
    """
    seen: set[str] = set()
    return {
        domain: {
            split: tuple(_rows(seed, domain, split, size, seen))
            for split, size in SIZES.items()
        }
        for domain in DOMAINS
    }


def _rows(
    seed: int, domain: str, split: str, size: int, seen: set[str]
) -> list[Row]:
    rows = []
    for index in range(size):
        good = index % 2 == 1
        choices = Choices(seed, domain, split, index)
        text = Review(domain, choices).text(good)
        while text in seen or len(text.split()) < MIN_TOKENS:
            text = Review(domain, choices).text(good)
        seen.add(text)
        rows.append((text, int(good)))
    order = Choices(seed, domain, split, "order")
    return _shuffled(rows, order)
