"""Character n-grams of words, from which unknown words get vectors.

Hashimoto et al. (2017), section 2.1: a word's vector is the mean of the vectors
of its distinct character n-grams, with marks at the beginning and end of the
word. This module has the n-grams; `mtl_tf.layers.inputs.ngram_embedding` has
the vectors. Everything is TensorFlow ops on written tokens, so it runs both in
`tf.data` and in a served graph.
"""

import os
import re
from collections.abc import Iterable, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.vectors.vector_files import VectorFile
from mtl_tf.text.vocabulary import Vocabulary, first_tokens

NGRAMS_FILE = "character_ngrams.txt"

# As in `charNgram.txt` of Hashimoto et al., which McCann et al. (2018) use. A
# mark counts as one character.
WIDTHS = (2, 3, 4)
BEGIN, END = "#BEGIN#", "#END#"
_NAME = re.compile(
    rb"(?:%s)gram-.+" % b"|".join(b"%d" % width for width in WIDTHS), re.DOTALL
)
# Markers, not words: `\pad`, `\oov`, `\<s>`. Backslashes of texts are escaped.
_MARKER = r"(?s)\\[^\\_nrs].*"
# Number of words per batch when a whole vocabulary is read.
_BATCH = 10_000


class CharacterNgrams:
    r"""Numbers the character n-grams of words, from 1; 0 is padding.

    The n-grams of a word are those of its surface (see `escaping`) between
    `#BEGIN#` and `#END#`. Each of these marks counts as one (Unicode)
    character. Repeated n-grams of a word count once. N-grams have names:
    "3gram-#BEGIN#ab" is an n-gram of "abc". Markers such as `\pad`, and words
    without characters, have none.

    Give either `buckets` or `vocabulary`:

    Args:
        buckets: number of ids for hashed n-grams. Different n-grams may share
            one. An id depends only on the n-gram and `buckets`.
        vocabulary: known n-grams, in written form; see `of_known`. Others are
            left out.
        most: K, the maximum number of n-grams kept per word. Those of two
            characters come first, in the order of the word. 48 is enough for
            words of 16 characters.

    Raises:
        ConfigError: a value is wrong.

    Example:

    >>> ngrams = CharacterNgrams.of_known(["2gram-ab", "2gram-b#END#"], most=3)
    >>> ngrams(tf.constant(["ab", "abab", "c"])).numpy()
    array([[1, 2, 0],
           [1, 2, 0],
           [0, 0, 0]], dtype=int32)
    """

    def __init__(
        self,
        buckets: int = 0,
        vocabulary: Vocabulary | None = None,
        most: int = 48,
    ):
        self.buckets = checks.not_negative_integer("ngrams.buckets", buckets)
        self.most = checks.positive_integer("ngrams.most", most)
        if bool(buckets) == (vocabulary is not None):
            raise ConfigError(
                "character n-grams are either hashed (ngrams.buckets) or "
                f"those of a file, got buckets {buckets} and "
                f"{'a' if vocabulary else 'no'} file"
            )
        self.vocabulary = vocabulary
        self._table = vocabulary.lookup_table if vocabulary else None

    @classmethod
    def of_known(
        cls, ngrams: Sequence[str], most: int = 48
    ) -> "CharacterNgrams":
        """Uses the n-grams with these names, whose ids are 1, 2, ...

        Args:
            ngrams: names such as those of `read_ngram_vectors`, each once.
            most: see the class.

        Raises:
            DataError: a name occurs twice, or is empty.
        """
        written = map(escaping.write, ngrams)
        return cls(0, Vocabulary([*first_tokens(), *written]), most)

    def __call__(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the ids of each word's n-grams.

        Args:
            words: string [n], written tokens.

        Returns:
            int32 [n, K], distinct n-grams, then zeros.
        """
        ngrams = _distinct(self._names(words))
        flat = ngrams.flat_values
        if self.vocabulary is None:
            ids = 1 + tf.strings.to_hash_bucket_fast(flat, self.buckets)
            ids = ngrams.with_flat_values(tf.cast(ids, tf.int32))
        else:
            # The vocabulary's padding and unknown word both become 0.
            ids = tf.maximum(self.vocabulary.lookup(flat) - 1, 0)
            ids = ngrams.with_flat_values(ids)
            ids = tf.ragged.boolean_mask(ids, tf.not_equal(ids, 0))
        return ids.to_tensor(shape=[None, self.most])

    def of_tokens(self, tokens: Iterable[str]) -> np.ndarray:
        """The ids of the n-grams of all tokens of a vocabulary.

        Args:
            tokens: V written tokens.

        Returns:
            int32 [V, K]; rows of markers are zero.
        """
        tokens = list(tokens)
        parts = [np.zeros([0, self.most], np.int32)]
        for first in range(0, len(tokens), _BATCH):
            words = tf.constant(tokens[first : first + _BATCH])
            parts.append(self(words).numpy())
        return np.concatenate(parts)

    def _names(self, words: tf.Tensor) -> tf.RaggedTensor:
        """The names of each word's n-grams, string [n, None]."""
        marker = tf.strings.regex_full_match(words, _MARKER)
        words = tf.where(marker, "", escaping.surface_in_graph(words))
        characters = tf.strings.unicode_split(words, "UTF-8")
        if self.vocabulary is not None:
            # Its n-grams are in written form, because they are lines of a file.
            flat = escaping.write_all_in_graph(characters.flat_values)
            characters = characters.with_flat_values(flat)
        begin, end = (_marks(mark, characters) for mark in (BEGIN, END))
        symbols = tf.concat([begin, characters, end], 1)
        ngrams = [_ngrams(symbols, width) for width in WIDTHS]
        return tf.concat(ngrams, 1)

    def __len__(self) -> int:
        """The number of ids, including that of padding."""
        if self.vocabulary is None:
            return self.buckets + 1
        return len(self.vocabulary) - 1

    @property
    def names(self) -> list[str]:
        """The meaning of each id: a written n-gram, or a bucket's number."""
        if self.vocabulary is None:
            return [f"{n} of {self.buckets}" for n in range(len(self))]
        return self.vocabulary.tokens[1:]

    @property
    def tables(self) -> list[tf.lookup.StaticHashTable]:
        """The lookup tables that an export must track."""
        return [self._table] if self._table is not None else []

    def save(self, directory: str) -> None:
        """Writes known n-grams to `character_ngrams.txt`; nothing if hashed."""
        if self.vocabulary is not None:
            self.vocabulary.save(os.path.join(directory, NGRAMS_FILE))

    @classmethod
    def load(
        cls, directory: str, buckets: int = 0, most: int = 48
    ) -> "CharacterNgrams":
        """Makes hashed n-grams, or without `buckets` reads saved ones.

        Raises:
            DataError: the file is missing or damaged.
        """
        if buckets:
            return cls(buckets, None, most)
        path = os.path.join(directory, NGRAMS_FILE)
        if not os.path.isfile(path):
            raise DataError(
                f"{path} is missing: the run was made without known n-grams"
            )
        return cls(0, Vocabulary.load(path), most)


def _marks(mark: str, characters: tf.RaggedTensor) -> tf.RaggedTensor:
    """One mark for each row that is not empty, string [n, None]."""
    lengths = tf.minimum(characters.row_lengths(), 1)
    marks = tf.fill(tf.stack([tf.reduce_sum(lengths)]), mark)
    return tf.RaggedTensor.from_row_lengths(marks, lengths, validate=False)


def _ngrams(symbols: tf.RaggedTensor, width: int) -> tf.RaggedTensor:
    """The names of the n-grams of one width."""
    ngrams = tf.strings.ngrams(symbols, width, separator="")
    return ngrams.with_flat_values(
        tf.strings.join([f"{width}gram-", ngrams.flat_values])
    )


def _distinct(rows: tf.RaggedTensor) -> tf.RaggedTensor:
    """The rows without repeated values; the first occurrence is kept."""
    row = rows.value_rowids()
    # The number comes first. It has no line feed, so keys are unambiguous.
    keys = tf.strings.join([tf.strings.as_string(row), rows.flat_values], "\n")
    distinct, number = tf.unique(keys)
    # In the order of first occurrence, so rows stay together.
    first = tf.math.unsorted_segment_min(
        tf.range(tf.size(number)), number, tf.size(distinct)
    )
    return tf.RaggedTensor.from_value_rowids(
        tf.gather(rows.flat_values, first),
        tf.gather(row, first),
        nrows=rows.nrows(),
        validate=False,
    )


def read_ngram_vectors(
    path: str, dimension: int
) -> tuple[list[str], np.ndarray]:
    """Reads n-gram vectors in the format that Hashimoto et al. (2017) publish.

    Lines are `2gram-ab number ... number`; see `VectorFile`. Lines with other
    words or widths, and lines that are not UTF-8, are skipped. If an n-gram
    occurs twice, the first line counts.

    Args:
        path: the file, plain or gzip.
        dimension: numbers per n-gram, D.

    Returns:
        The names of the N n-grams, for `CharacterNgrams.of_known`, and their
        vectors at their ids, float32 [N + 1, D]. The vector of padding is zero.

    Raises:
        ConfigError: a wrong `dimension`.
        DataError: the file cannot be used; the message names `file:line`.
    """
    checks.positive_integer("dimension", dimension)
    file = VectorFile(path, dimension)
    # A list of arrays would need twice the memory.
    numbers = bytearray(np.zeros([dimension], np.float32).tobytes())
    ngrams: dict[str, None] = {}
    for row in file.rows():
        name = _name_of(row.word)
        if name is not None and name not in ngrams:
            ngrams[name] = None
            numbers += file.numbers(row).tobytes()
    if not ngrams:
        raise DataError(
            f"{path} holds no vectors of character n-grams: such a line begins "
            "like 2gram-ab"
        )
    logging.info(
        "%s: %d character n-grams, %d other lines",
        path,
        len(ngrams),
        file.row_count - len(ngrams),
    )
    vectors = np.frombuffer(numbers, np.float32)
    return list(ngrams), vectors.reshape([-1, dimension])


def _name_of(word: bytes) -> str | None:
    """The name of an n-gram, or None if the word is not such a name."""
    if not _NAME.fullmatch(word):
        return None
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return None
