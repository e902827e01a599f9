"""Tokenizers made of TensorFlow ops, which run inside a served graph."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint, look_up
from mtl_tf.text import own_tokenizer
from mtl_tf.text.tokenizers import escaping, treebank
from mtl_tf.text.tokenizers.base_tokenizer import (
    BOUNDED,
    Tokenizer,
    marked,
    split_marked,
)
from mtl_tf.text.tokenizers.escaping import BOUNDARY, CARRIED_SPACE
from mtl_tf.text.tokenizers.subwords import SentencePieceTokenizer

_LETTERS = r"\pL\pM\pN"
_SPACES = r"\t\n\v\f\r \x{85}\pZ"
#: RE2 classes of the scripts that put no space between words.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# A character of `_LETTERS` in any other script. RE2 cannot subtract classes.
# Its \pC lacks unassigned characters, of which those among the emoji are none.
_SPACED = rf"[^\pC\pP\pS\pZ\x{{1F300}}-\x{{1FAFF}}{UNSPACED}]"


class WhitespaceTokenizer(Tokenizer):
    """Splits at runs of ASCII white space, for texts already tokenised.

    Other white space, such as U+0085 and the no-break space, is part of its
    token, as in the tools that wrote the review corpora. `detokenize` joins
    with single spaces.
    """

    name = "whitespace"
    pattern = r"[^ \t\n\v\f\r]+"

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        written = escaping.write_in_graph(texts, "\\" + CARRIED_SPACE)
        return tf.strings.split(written)


class TreebankTokenizer(WhitespaceTokenizer):
    """Splits raw English as the Penn Treebank does: `did n't`, `( so )`.

    Texts that are already tokenised in this way stay unchanged. Raw texts thus
    get the same words as tokenised corpora. `detokenize` joins with single
    spaces.
    """

    name = "treebank"
    pattern = ""

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        return super()._split(treebank.space(texts))

    def check_words(self) -> None:
        """Raises `ConfigError`: its words differ from those in the text."""
        raise ConfigError(
            "the treebank tokenizer changes the words of a text: tagging, "
            "characters and casing need the whitespace or the regex tokenizer"
        )


class RegexTokenizer(Tokenizer):
    r"""Takes all matches of a regular expression and drops the rest.

    Args:
        pattern: an RE2 expression that never matches the empty string. Default:
            words with inner apostrophes, single symbols, and single characters
            of scripts without spaces between words, such as Chinese.
        lowercase: lower-case the texts first.

    `detokenize` joins with single spaces.
    """

    name = "regex"
    default_pattern = (
        rf"(?:{_SPACED}|_)+(?:['’](?:{_SPACED}|_)+)*"
        rf"|[{UNSPACED}]|[^{_LETTERS}_{_SPACES}]"
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
        """Returns the config with which `make_tokenizer` makes an equal one."""
        return {**super().get_config(), "pattern": self.pattern}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        texts = marked(texts, self.pattern)
        written = escaping.write_in_graph(texts, f"\\{CARRIED_SPACE}\n\r ")
        return split_marked(written)[:, 1::2]


class ReversibleTokenizer(Tokenizer):
    r"""Words and symbols whose tokens carry their spaces (RevTok's idea).

    A token is a run of letters, marks and digits, or one other character, or a
    run of white space that is not a single space. `▁` on a side of a token
    means that white space or the end of the text follows there. A word between
    spaces is therefore one vocabulary entry, wherever it occurs:

    ``Don't go.\nNow`` gives ``▁Don ' t▁ ▁go .▁ \n ▁Now▁``

    A single space is just two carried spaces that meet. Other white space is a
    separate token that carries none. Without `lowercase`,
    `detokenize(tokenizer(texts))` equals `texts` for all valid UTF-8.

    With `plain_words` only symbols carry spaces. A word is then the same token
    next to a comma and between spaces, so a word that is copied from a sentence
    is the same word in the answer. Between two words there is a space; between
    a word and a symbol, the symbol decides:

    ``Don't go.\nNow`` gives ``Don ' t go .▁ \n Now``

    With `split_unspaced` each character of scripts that put no space between
    words, such as Chinese, is a token of its own. It carries only spaces that
    are there: none at the ends of a text, so that copied ones fit.

    Args:
        lowercase: lower-case the texts first.
        plain_words: whether words carry no spaces.
        split_unspaced: whether to split words of scripts without spaces.

    Idea: RevTok (J. Bradbury and others, 2017), as used by decaNLP; this form
        of it is ours.
    """

    name = "reversible"

    def __init__(
        self,
        lowercase: bool = False,
        plain_words: bool = False,
        split_unspaced: bool = False,
    ):
        super().__init__(lowercase)
        self.plain_words = checks.boolean("tokenizer.plain_words", plain_words)
        self.split_unspaced = checks.boolean(
            "tokenizer.split_unspaced", split_unspaced
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the config with which `make_tokenizer` makes an equal one."""
        # Runs saved before an option existed do not mention it.
        names = "plain_words", "split_unspaced"
        options = {name: True for name in names if getattr(self, name)}
        return {**super().get_config(), **options}

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        replace = tf.strings.regex_replace
        space = CARRIED_SPACE
        texts = escaping.write_in_graph(texts, "\\" + space)
        texts = replace(texts, f"[^{_SPACES}]+", rf"{space}\0{space}")
        symbol = rf"\\[\\_]|[^{_LETTERS}{_SPACES}{space}]"
        if self.split_unspaced:
            texts = replace(texts, f"^{space}([{UNSPACED}])", r"\1")
            texts = replace(texts, f"([{UNSPACED}]){space}$", r"\1")
            symbol += f"|[{UNSPACED}]"
        meeting = space.encode() + BOUNDARY + space.encode()
        texts = replace(texts, f"{space} {space}", meeting)
        texts = replace(texts, f"[{_SPACES}]+", BOUNDED)
        texts = replace(texts, f"{space}?(?:{symbol}){space}?", BOUNDED)
        tokens = _parts(escaping.write_in_graph(texts, "\n\r "))
        return tokens.with_flat_values(self._plain(tokens.flat_values))

    def _plain(self, tokens: tf.Tensor) -> tf.Tensor:
        """With `plain_words`, removes the carried spaces of words."""
        if not self.plain_words:
            return tokens
        word = f"^{CARRIED_SPACE}?([{_LETTERS}]+){CARRIED_SPACE}?$"
        return self._replace_words(tokens, word, r"\1")

    def _replace_words(
        self, tokens: tf.Tensor, pattern: str, rewrite: str
    ) -> tf.Tensor:
        """Replaces a pattern of words in the tokens that are words."""
        replaced = tf.strings.regex_replace(tokens, pattern, rewrite)
        if not self.split_unspaced:
            return replaced
        unspaced = f"{CARRIED_SPACE}?[{UNSPACED}]{CARRIED_SPACE}?"
        is_symbol = tf.strings.regex_full_match(tokens, unspaced)
        return tf.where(is_symbol, tokens, replaced)

    def check_words(self) -> None:
        """Raises `ConfigError`: tokens carry spaces, or are only spaces."""
        raise ConfigError(
            "the reversible tokenizer makes tokens of words with their spaces: "
            "tagging, characters and casing need the whitespace or the regex "
            "tokenizer"
        )

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words with a space on each side."""
        words = escaping.write_all_in_graph(words)
        spaced = self._plain(CARRIED_SPACE + words + CARRIED_SPACE)
        if not self.split_unspaced:
            return spaced
        is_alone = tf.strings.regex_full_match(words, f"[{UNSPACED}]")
        return tf.where(is_alone, words, spaced)

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n]."""
        if self.plain_words:
            # Written tokens have no line breaks, so these can mark words and
            # joints.
            word = f"^[{_LETTERS}]+$"
            flat = self._replace_words(tokens.flat_values, word, "\r\\0\r")
            tokens = tokens.with_flat_values(flat)
        space = CARRIED_SPACE
        joined = tf.strings.reduce_join(tokens, axis=-1, separator="\n")
        # Two carried spaces that meet; a word has one if its neighbour does.
        meeting = f"{space}\n{space}|\r\n\r|\r\n{space}|{space}\n\r"
        joined = tf.strings.regex_replace(joined, meeting, " ")
        joined = tf.strings.regex_replace(joined, f"[{space}\n\r]", "")
        return escaping.read_in_graph(joined)


TOKENIZERS = {
    kind.name: kind
    for kind in (
        WhitespaceTokenizer,
        TreebankTokenizer,
        RegexTokenizer,
        ReversibleTokenizer,
        SentencePieceTokenizer,
    )
}


# Options besides `lowercase`.
_OPTIONS = {
    "regex": ["pattern"],
    "reversible": ["plain_words", "split_unspaced"],
    "sentencepiece": ["model"],
}


def make_tokenizer(config: Mapping[str, Any], directory: str = "") -> Tokenizer:
    """Makes a tokenizer from a config or from another one's `get_config()`.

    Args:
        config: "name" is "whitespace", "treebank", "regex", "reversible",
            "sentencepiece", or the path of a user's class (see
            `own_tokenizer`). The other entries are arguments of that
            tokenizer's class.
        directory: the directory that its `save` wrote to; "" for a new one.

    Raises:
        ConfigError: an unknown name or option, or a wrong value.
        DataError: a saved file is missing or damaged.
    """
    options = dict(config)
    name = options.pop("name", None)
    if own_functions.is_own(name):
        tokenizer = own_tokenizer.load(name, options)
        return tokenizer.loaded(directory) if directory else tokenizer
    kind = look_up(name, TOKENIZERS, "tokenizer")
    known = ["lowercase", *_OPTIONS.get(name, ())]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"the {name} tokenizer has no option {option!r}; "
                f"{hint(option, known)}"
            )
    tokenizer = kind(**options)
    return tokenizer.loaded(directory) if directory else tokenizer


def _parts(texts: tf.Tensor) -> tf.RaggedTensor:
    """Splits at boundaries and drops empty parts."""
    # The original StringSplit drops empty parts itself. Its successor behind
    # tf.strings.split cannot, and a mask costs more than the split.
    parts = tf.raw_ops.StringSplit(
        input=texts, delimiter=BOUNDARY, skip_empty=True
    )
    return tf.RaggedTensor.from_value_rowids(
        parts.values,
        parts.indices[:, 0],
        nrows=tf.size(texts, tf.int64),
        validate=False,
    )
