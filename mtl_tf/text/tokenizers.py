"""Tokenizers made of TensorFlow ops: they run inside a served graph.

Every tokenizer first makes its texts valid UTF-8: each undecodable byte
becomes U+FFFD, so no text can stop a graph. (With `lowercase`, a NUL
character becomes U+FFFD, too.) Tokens are *written* tokens; see
`mtl_tf.text.escaping`.
"""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint, look_up
from mtl_tf.text import escaping
from mtl_tf.text.escaping import BOUNDARY, CARRIED_SPACE

_LETTERS = r"\pL\pM\pN"
_SPACES = r"\t\n\v\f\r \x{85}\pZ"


class Tokenizer:
    """Splits texts into tokens, and joins tokens to texts.

    Args:
        lowercase: lower-case the texts first, by the rules of Unicode.

    Example:

    >>> tokenizer = make_tokenizer({"name": "whitespace", "lowercase": True})
    >>> tokenizer(tf.constant(["A good  Book .", ""])).to_list()
    [[b'a', b'good', b'book', b'.'], []]
    """

    name = ""
    #: RE2 expression of a word; "" where tokens are not words.
    pattern = ""

    def __init__(self, lowercase: bool = False):
        if not isinstance(lowercase, bool):
            raise ConfigError(
                f"tokenizer.lowercase must be True or False, got {lowercase!r}"
            )
        self.lowercase = lowercase

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the written tokens of each text.

        Args:
            texts: string [n].

        Returns:
            string [n, None]; an empty text has no tokens.
        """
        return self._split(self.normalize(texts))

    def normalize(self, texts: tf.Tensor) -> tf.Tensor:
        """The texts that are split: valid UTF-8, lower-cased if wanted."""
        texts = tf.convert_to_tensor(texts, tf.string)
        return _lower(texts) if self.lowercase else valid_utf8(texts)

    @property
    def needs_training(self) -> bool:
        """Whether it has to learn from texts before it is called."""
        return False

    @property
    def pieces(self) -> list[str]:
        """All written tokens that it makes, if it has learnt them; else []."""
        return []

    @property
    def trackables(self) -> list[Any]:
        """What an export has to track."""
        return []

    def save(self, directory: str) -> None:
        """Writes files that `get_config` does not stand for; mostly none."""

    def loaded(self, directory: str) -> "Tokenizer":
        """The tokenizer with the files that `save` wrote.

        Raises:
            DataError: a file is missing or damaged.
        """
        del directory
        return self

    def words(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Splits texts into words as they stand there, in their own case.

        `write(words(texts))` are the tokens of `texts`, unless the tokenizer
        is one of a pattern that tells upper from lower case.

        Args:
            texts: string [n].

        Returns:
            string [n, None], valid UTF-8, not written.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        return self.locate(texts)[0]

    def locate(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Splits texts into words, and says where each of them stands.

        Args:
            texts: string [n].

        Returns:
            The words, string [n, None], as `words` has them; where each
            begins, and where it has ended, int32 [n, None], in characters (of
            Unicode) from the start of its text.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        self.check_words()
        texts = valid_utf8(tf.convert_to_tensor(texts, tf.string))
        pieces = _pieces(_marked(texts, self.pattern))
        sizes = tf.strings.length(pieces.flat_values, unit="UTF8_CHAR")
        ends = tf.cumsum(sizes)
        before = tf.gather(tf.pad(ends, [[1, 0]]), pieces.row_splits[:-1])
        ends -= tf.repeat(before, pieces.row_lengths())
        starts, ends = map(pieces.with_flat_values, (ends - sizes, ends))
        return pieces[:, 1::2], starts[:, 1::2], ends[:, 1::2]

    def write(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """The written tokens of words that are given; none of them is split.

        Args:
            words: string [n, None].

        Returns:
            string [n, None], of the same lengths. A word without characters
            becomes U+FFFD, since no token is empty.

        Raises:
            ConfigError: the tokens of this tokenizer are not words.
        """
        self.check_words()
        flat = words.flat_values
        flat = _lower(flat) if self.lowercase else valid_utf8(flat)
        flat = tf.where(tf.equal(flat, ""), "\ufffd", flat)
        return words.with_flat_values(escaping.write_all_in_graph(flat))

    def check_words(self) -> None:
        """Raises `ConfigError` if the tokens of this tokenizer are not words.

        Words are what tagging tasks have, and what has characters and casing.
        """
        return  # AutoGraph cannot convert a body without a statement.

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words that stand between spaces.

        Args:
            words: string, of any shape.
        """
        return escaping.write_all_in_graph(words)

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n]."""
        joined = tf.strings.reduce_join(tokens, axis=-1, separator=" ")
        return escaping.read_in_graph(joined)

    def get_config(self) -> dict[str, Any]:
        """Returns what `make_tokenizer` needs to make an equal tokenizer."""
        return {"name": self.name, "lowercase": self.lowercase}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        raise NotImplementedError


class WhitespaceTokenizer(Tokenizer):
    """Splits at runs of ASCII white space: for texts tokenised before.

    Other white space, such as U+0085 and the no-break space, is part of its
    token, as in the tools that wrote the reviewed corpora. `detokenize` joins
    with single spaces.
    """

    name = "whitespace"
    pattern = r"[^ \t\n\v\f\r]+"

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        written = escaping.write_in_graph(texts, "\\" + CARRIED_SPACE)
        return tf.strings.split(written)


class RegexTokenizer(Tokenizer):
    r"""Takes all matches of a regular expression; drops what lies between.

    Args:
        pattern: an RE2 expression that never matches the empty string.
            Default: words with inner apostrophes, and single symbols.
        lowercase: lower-case the texts first.

    `detokenize` joins with single spaces.
    """

    name = "regex"
    default_pattern = (
        rf"[{_LETTERS}_]+(?:['’][{_LETTERS}_]+)*|[^{_LETTERS}_{_SPACES}]"
    )

    def __init__(self, lowercase: bool = False, pattern: str = default_pattern):
        super().__init__(lowercase)
        self.pattern = pattern
        try:
            matches_nothing = tf.strings.regex_full_match("", pattern)
        except (tf.errors.InvalidArgumentError, TypeError, ValueError) as error:
            reason = getattr(error, "message", str(error))
            raise ConfigError(
                "tokenizer.pattern is not an RE2 regular expression: "
                f"{pattern!r}: {reason}"
            )
        if bool(matches_nothing):
            raise ConfigError(
                "tokenizer.pattern must not match the empty string, got "
                f"{pattern!r}"
            )

    def get_config(self) -> dict[str, Any]:
        """Returns what `make_tokenizer` needs to make an equal tokenizer."""
        return {**super().get_config(), "pattern": self.pattern}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        marked = _marked(texts, self.pattern)
        written = escaping.write_in_graph(marked, f"\\{CARRIED_SPACE}\n\r ")
        return _pieces(written)[:, 1::2]


class ReversibleTokenizer(Tokenizer):
    r"""Words and symbols whose tokens carry their spaces (RevTok's idea).

    A token is a run of letters, marks and digits, or one other character, or a
    run of white space that is not a single space. `▁` on a side of a token
    says that white space or the end of the text is there, so a word between
    spaces is one vocabulary entry wherever it stands:

    ``Don't go.\nNow`` gives ``▁Don ' t▁ ▁go .▁ \n ▁Now▁``

    A single space is nothing but two carried spaces that meet; other white
    space is a token of its own that carries none. Without `lowercase`,
    `detokenize(tokenizer(texts))` equals `texts` for all valid UTF-8.

    Idea: RevTok (J. Bradbury and others, 2017), as used by decaNLP; this form
    of it is ours.
    """

    name = "reversible"

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        replace = tf.strings.regex_replace
        space = CARRIED_SPACE
        texts = escaping.write_in_graph(texts, "\\" + space)
        texts = replace(texts, f"[^{_SPACES}]+", rf"{space}\0{space}")
        meeting = space.encode() + BOUNDARY + space.encode()
        texts = replace(texts, f"{space} {space}", meeting)
        texts = replace(texts, f"[{_SPACES}]+", _BOUNDED)
        symbol = rf"\\[\\_]|[^{_LETTERS}{_SPACES}{space}]"
        texts = replace(texts, f"{space}?(?:{symbol}){space}?", _BOUNDED)
        return _parts(escaping.write_in_graph(texts, "\n\r "))

    def check_words(self) -> None:
        """Raises `ConfigError`: tokens carry spaces, or are nothing else."""
        raise ConfigError(
            "the reversible tokenizer makes tokens of words with their spaces: "
            "tagging, characters and casing need the whitespace or the regex "
            "tokenizer"
        )

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words that stand between spaces."""
        space = CARRIED_SPACE
        return space + escaping.write_all_in_graph(words) + space

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n]."""
        # No written token holds a line feed: it marks the seams.
        joined = tf.strings.reduce_join(tokens, axis=-1, separator="\n")
        meeting = f"{CARRIED_SPACE}\n{CARRIED_SPACE}"
        joined = tf.strings.regex_replace(joined, meeting, " ")
        joined = tf.strings.regex_replace(joined, f"[{CARRIED_SPACE}\n]", "")
        return escaping.read_in_graph(joined)


_BOUNDED = BOUNDARY + rb"\0" + BOUNDARY
TOKENIZERS = {
    kind.name: kind
    for kind in (WhitespaceTokenizer, RegexTokenizer, ReversibleTokenizer)
}


# Options beside `lowercase`.
_OPTIONS = {"regex": ["pattern"], "sentencepiece": ["model"]}


def make_tokenizer(config: Mapping[str, Any], directory: str = "") -> Tokenizer:
    """Makes a tokenizer from a config or from another one's `get_config()`.

    Args:
        config: "name" is "whitespace", "regex", "reversible" or
            "sentencepiece"; the other entries are arguments of that
            tokenizer's class.
        directory: where its `save` wrote; "" for a new one.

    Raises:
        ConfigError: an unknown name or option, or a wrong value.
        DataError: a saved file is missing or damaged.
    """
    # That module builds on this one.
    from mtl_tf.text.subwords import SentencePieceTokenizer

    options = dict(config)
    name = options.pop("name", None)
    kinds = {**TOKENIZERS, SentencePieceTokenizer.name: SentencePieceTokenizer}
    kind = look_up(name, kinds, "tokenizer")
    known = ["lowercase", *_OPTIONS.get(name, ())]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"the {name} tokenizer has no option {option!r}; "
                f"{hint(option, known)}"
            )
    tokenizer = kind(**options)
    return tokenizer.loaded(directory) if directory else tokenizer


def _marked(texts: tf.Tensor, pattern: str) -> tf.Tensor:
    """The texts with a boundary on each side of each match."""
    return tf.strings.regex_replace(texts, pattern, _BOUNDED)


def _pieces(marked: tf.Tensor) -> tf.RaggedTensor:
    """Gap, match, gap, ..., match, gap of each text; gaps may be empty."""
    return tf.strings.split(marked, sep=BOUNDARY)


def _lower(texts: tf.Tensor) -> tf.Tensor:
    # TensorFlow's `lower` cuts a text at its first NUL character.
    texts = tf.strings.regex_replace(texts, r"\x00", "\ufffd")
    return tf.strings.lower(texts, encoding="utf-8")


def valid_utf8(texts: tf.Tensor) -> tf.Tensor:
    """The texts with U+FFFD in place of each undecodable byte."""
    return tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="replace"
    )


def _parts(texts: tf.Tensor) -> tf.RaggedTensor:
    """Splits at boundaries and drops what is empty."""
    # The first StringSplit drops empty parts by itself; its successor behind
    # tf.strings.split cannot, and a mask afterwards costs more than the split.
    parts = tf.raw_ops.StringSplit(
        input=texts, delimiter=BOUNDARY, skip_empty=True
    )
    return tf.RaggedTensor.from_value_rowids(
        parts.values,
        parts.indices[:, 0],
        nrows=tf.size(texts, tf.int64),
        validate=False,
    )
