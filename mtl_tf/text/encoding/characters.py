"""Features of the spelling of words: their characters and their casing.

Everything is TensorFlow ops on the original words, before any lower-casing, so
it runs both in `tf.data` and in a served graph.
"""

import collections
import os
from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import DataError
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.vocabulary import Vocabulary

CHARACTERS_FILE = "characters.txt"

# Different words whose characters are counted together.
_WORDS_AT_ONCE = 16_384

# Kinds of casing, each with its pattern; the first that matches counts, and 0
# is padding. After Reimers & Gurevych (2017), section 4.
_UPPER, _LOWER, _DIGIT = r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"\p{Nd}"
CASINGS = (
    ("numeric", rf"[^\pL]*{_DIGIT}[^\pL]*"),
    (
        "lower",
        rf"[^\p{{Lu}}\p{{Lt}}{_DIGIT}]*{_LOWER}[^\p{{Lu}}\p{{Lt}}{_DIGIT}]*",
    ),
    ("upper", rf"[^\p{{Ll}}{_DIGIT}]*{_UPPER}[^\p{{Ll}}{_DIGIT}]*"),
    ("title", rf"{_UPPER}[^\p{{Lu}}\p{{Lt}}{_DIGIT}]*"),
    ("with a digit", rf".*{_DIGIT}.*"),
    ("with an upper-case letter", rf".*{_UPPER}.*"),
    ("other", r".*"),
)


def casing(words: tf.Tensor) -> tf.Tensor:
    """The casing of words.

    Args:
        words: string, of any shape: valid UTF-8.

    Returns:
        int32 of the same shape: the position in `CASINGS`, from 1.

    Example:

    >>> casing(tf.constant(["EU", "rejects", "German", "1996", "B-52"]))
    [3, 2, 4, 1, 5]
    """
    numbers = tf.zeros(tf.shape(words), tf.int32)
    for number, (_, pattern) in reversed(list(enumerate(CASINGS, 1))):
        matches = tf.strings.regex_full_match(words, rf"(?s:{pattern})")
        numbers = tf.where(matches, number, numbers)
    return numbers


class CharacterEncoder:
    """Turns words into the ids of their characters.

    A word longer than `max_word_length` loses its middle, because prefix and
    suffix tell most about the kind of word.

    Args:
        vocabulary: vocabulary of characters, in their written form.
        max_word_length: W, maximum number of characters kept per word.

    Raises:
        ConfigError: W is not positive.
    """

    def __init__(self, vocabulary: Vocabulary, max_word_length: int):
        self.vocabulary = vocabulary
        self.max_word_length = checks.positive_integer(
            "text.characters.max_word_length", max_word_length
        )
        self._table = vocabulary.lookup_table

    def __call__(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the ids of each word's characters.

        Args:
            words: string [n], valid UTF-8.

        Returns:
            int32 [n, W]: 0 after the end of a word, 1 for a character that is
            not in the vocabulary.
        """
        width = self.max_word_length
        characters = self._cut(tf.strings.unicode_split(words, "UTF-8"))
        ids = self.vocabulary.lookup(_written(characters))
        return ids.to_tensor(shape=[None, width])

    def _cut(self, characters: tf.RaggedTensor) -> tf.RaggedTensor:
        """Removes the middle of long words."""
        last = self.max_word_length // 2
        first = self.max_word_length - last
        lengths = tf.repeat(characters.row_lengths(), characters.row_lengths())
        places = tf.ragged.range(characters.row_lengths()).flat_values
        stays = (places < first) | (places >= lengths - last)
        return tf.ragged.boolean_mask(
            characters, characters.with_flat_values(stays)
        )

    @property
    def dtype(self) -> np.dtype:
        """The smallest type that holds every id."""
        return np.min_scalar_type(len(self.vocabulary) - 1)

    @property
    def tables(self) -> list[tf.lookup.StaticHashTable]:
        """The lookup tables that an export must track."""
        return [self._table]

    def save(self, directory: str) -> None:
        """Writes `characters.txt` into `directory`."""
        self.vocabulary.save(os.path.join(directory, CHARACTERS_FILE))

    @classmethod
    def load(cls, directory: str, max_word_length: int) -> "CharacterEncoder":
        """Reads a saved encoder.

        Raises:
            DataError: the file is missing or damaged.
        """
        path = os.path.join(directory, CHARACTERS_FILE)
        if not os.path.isfile(path):
            raise DataError(
                f"{path} is missing: the run was made without characters"
            )
        return cls(Vocabulary.load(path), max_word_length)


def count_characters(batches: Iterable[tf.Tensor]) -> dict[str, int]:
    """How often each written character occurs in batches of words [n]."""
    words: collections.Counter[bytes] = collections.Counter()
    for batch in batches:
        words.update(batch.numpy().tolist())
    counts: collections.Counter[str] = collections.Counter()
    different, frequencies = list(words), np.array([*words.values()], np.int64)
    for first in range(0, len(different), _WORDS_AT_ONCE):
        some = slice(first, first + _WORDS_AT_ONCE)
        of_word = tf.strings.unicode_split(different[some], "UTF-8")
        times = np.repeat(frequencies[some], of_word.row_lengths())
        written, number = tf.unique(_written(of_word).flat_values)
        sums = np.zeros(len(written), np.int64)
        np.add.at(sums, number.numpy(), times)
        for character, n in zip(written.numpy(), sums.tolist()):
            counts[tf.compat.as_text(character)] += n
    return counts


def _written(characters: tf.RaggedTensor) -> tf.RaggedTensor:
    return characters.with_flat_values(
        escaping.write_all_in_graph(characters.flat_values)
    )
