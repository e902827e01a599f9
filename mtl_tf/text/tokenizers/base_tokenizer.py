"""The base class of all tokenizers.

Every tokenizer first makes its texts valid UTF-8: each undecodable byte becomes
U+FFFD, so that no text can stop a graph. (With `lowercase`, NUL characters also
become U+FFFD.) Tokens are *written* tokens; see
`mtl_tf.text.tokenizers.escaping`.
"""

from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.tokenizers.escaping import BOUNDARY

#: Replacement that adds a boundary on each side of a match.
BOUNDED = BOUNDARY + rb"\0" + BOUNDARY


class Tokenizer:
    """Splits texts into tokens, and joins tokens to texts.

    Args:
        lowercase: lower-case the texts first, by the rules of Unicode.

    Example:

    >>> from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
    >>> tokenizer = make_tokenizer({"name": "whitespace", "lowercase": True})
    >>> tokenizer(tf.constant(["A good  Book .", ""])).to_list()
    [[b'a', b'good', b'book', b'.'], []]
    """

    name = ""
    #: RE2 expression of a word; "" if tokens are not words.
    pattern = ""

    def __init__(self, lowercase: bool = False):
        self.lowercase = checks.boolean("tokenizer.lowercase", lowercase)

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the written tokens of each text.

        Args:
            texts: string [n].

        Returns:
            string [n, None]; an empty text has no tokens.
        """
        return self._split(self.normalize(texts))

    def normalize(self, texts: tf.Tensor) -> tf.Tensor:
        """The texts to split: valid UTF-8, lower-cased if requested."""
        texts = tf.convert_to_tensor(texts, tf.string)
        return _lower(texts) if self.lowercase else valid_utf8(texts)

    @property
    def needs_training(self) -> bool:
        """Whether it must be trained on texts before it can be called."""
        return False

    @property
    def pieces(self) -> list[str]:
        """All written tokens it can make, if they were learnt; otherwise []."""
        return []

    @property
    def trackables(self) -> list[Any]:
        """The objects that an export must track."""
        return []

    def save(self, directory: str) -> None:
        """Writes files for what `get_config` does not cover; usually none."""

    def loaded(self, directory: str) -> "Tokenizer":
        """The tokenizer with the files that `save` wrote.

        Raises:
            DataError: a file is missing or damaged.
        """
        del directory
        return self

    def words(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Splits texts into words with their original spelling and case.

        `write(words(texts))` gives the tokens of `texts`, unless the tokenizer
        has a pattern that depends on upper and lower case.

        Args:
            texts: string [n].

        Returns:
            string [n, None], valid UTF-8, not in written form.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        return self.locate(texts)[0]

    def locate(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Splits texts into words and returns the position of each word.

        Args:
            texts: string [n].

        Returns:
            The words, string [n, None], as in `words`; and where each begins
            and ends (exclusive), int32 [n, None], in Unicode characters from
            the start of its text.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        self.check_words()
        texts = valid_utf8(tf.convert_to_tensor(texts, tf.string))
        pieces = split_marked(marked(texts, self.pattern))
        sizes = tf.strings.length(pieces.flat_values, unit="UTF8_CHAR")
        ends = tf.cumsum(sizes)
        before = tf.gather(tf.pad(ends, [[1, 0]]), pieces.row_splits[:-1])
        ends -= tf.repeat(before, pieces.row_lengths())
        starts, ends = map(pieces.with_flat_values, (ends - sizes, ends))
        return pieces[:, 1::2], starts[:, 1::2], ends[:, 1::2]

    def write(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """The written tokens of given words, which are not split further.

        Args:
            words: string [n, None].

        Returns:
            string [n, None], of the same lengths. A word without characters
            becomes U+FFFD, because no token is empty.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        self.check_words()
        # Most words of some texts occur several times.
        flat, places = tf.unique(words.flat_values)
        flat = _lower(flat) if self.lowercase else valid_utf8(flat)
        flat = tf.where(tf.equal(flat, ""), "\ufffd", flat)
        written = escaping.write_all_in_graph(flat)
        return words.with_flat_values(tf.gather(written, places))

    def check_words(self) -> None:
        """Raises `ConfigError` if the tokens of this tokenizer are not words.

        Tagging tasks need words, and so do character and casing features.
        """
        return  # AutoGraph cannot convert a body without a statement.

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words with a space on each side.

        Args:
            words: string, of any shape.
        """
        return escaping.write_all_in_graph(words)

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n]."""
        joined = tf.strings.reduce_join(tokens, axis=-1, separator=" ")
        return escaping.read_in_graph(joined)

    def get_config(self) -> dict[str, Any]:
        """Returns the config with which `make_tokenizer` makes an equal one."""
        return {"name": self.name, "lowercase": self.lowercase}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        raise NotImplementedError


def marked(texts: tf.Tensor, pattern: str) -> tf.Tensor:
    """The texts with a boundary on each side of each match."""
    return tf.strings.regex_replace(texts, pattern, BOUNDED)


def split_marked(texts: tf.Tensor) -> tf.RaggedTensor:
    """Gap, match, gap, ..., match, gap of each text; gaps may be empty."""
    return tf.strings.split(texts, sep=BOUNDARY)


def _lower(texts: tf.Tensor) -> tf.Tensor:
    # TensorFlow's `lower` cuts a text at its first NUL character.
    texts = tf.strings.regex_replace(texts, r"\x00", "\ufffd")
    return tf.strings.lower(texts, encoding="utf-8")


def valid_utf8(texts: tf.Tensor) -> tf.Tensor:
    """The texts, with U+FFFD instead of each undecodable byte."""
    return tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="replace"
    )
