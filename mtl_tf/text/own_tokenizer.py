"""User-defined tokenizers, given by the path of their class."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer

_SAMPLE = ("Mary's  book, a\\b .", "", "Äpfel")


class OwnTokenizer(Tokenizer):
    """The base class of user-defined tokenizers.

    It must use TensorFlow ops, because it runs inside served graphs. If its
    constructor has options besides `lowercase`, `get_config` must contain them.

    Example:
        ```python
        class Characters(OwnTokenizer):
            def split(self, texts):
                return tf.strings.unicode_split(texts, "UTF-8")
        ```
    """

    def split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Splits texts.

        Args:
            texts: string [n], valid UTF-8, lower-cased if requested.

        Returns:
            string [n, None], the tokens; empty ones are dropped.
        """
        raise NotImplementedError

    def check_words(self) -> None:
        """Raises `ConfigError`: the positions of its tokens are unknown."""
        raise ConfigError(
            f"{self.name} is a tokenizer of your own: tagging, characters and "
            "casing need the whitespace or the regex tokenizer"
        )

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        tokens = self.split(texts)
        tokens = tf.ragged.boolean_mask(tokens, tf.not_equal(tokens, ""))
        return escaping.write_all_in_graph(tokens)


def load(place: str, options: Mapping[str, Any]) -> OwnTokenizer:
    """Makes a tokenizer from a user's class.

    Args:
        place: see `own_functions.load`.
        options: options of its constructor.

    Raises:
        ConfigError: the class does not exist or fails, or its results for some
            sample texts are not tokens.
    """
    place = own_functions.absolute(place)
    cls = own_functions.load_class(place, OwnTokenizer)
    if cls.split is OwnTokenizer.split:
        raise ConfigError(
            f"{place} has no split(texts): it must return the tokens of each "
            "text (docs/own_code.md)"
        )
    known = own_functions.keywords(cls)
    if "lowercase" not in known:
        raise ConfigError(
            f"{place}: its constructor must take lowercase beside its options, "
            "and pass it to super().__init__(lowercase)"
        )
    own_functions.check_options(f"the tokenizer {place}", options, known)
    tokenizer = cls(**options)
    tokenizer.name = place
    missing = set(options) - set(tokenizer.get_config())
    if missing:
        raise ConfigError(
            f"{place}: get_config() must return {', '.join(sorted(missing))}, "
            "too: an export and a continued run make the tokenizer from it"
        )
    _check_tokens(place, tokenizer)
    return tokenizer


def _check_tokens(place: str, tokenizer: OwnTokenizer) -> None:
    """Splits some sample texts in a graph, as exports do."""
    count = len(_SAMPLE)
    texts = tf.TensorSpec([None], tf.string)
    try:
        # AutoGraph would hide the failing line.
        split = tf.function(
            tokenizer.split, input_signature=[texts], autograph=False
        )
        tokens = split(tf.constant(_SAMPLE))
    except Exception as error:  # user code can raise anything
        raise ConfigError(
            f"the tokenizer {place} fails in a graph: "
            f"{own_functions.complaint(error) or error}"
        )
    is_ragged = isinstance(tokens, tf.RaggedTensor) and (
        tokens.shape.rank == 2 and tokens.dtype == tf.string
    )
    if not is_ragged or tokens.nrows() != count:
        raise ConfigError(
            f"{place}: split(texts) must return a ragged tensor of strings "
            f"[n, None] for texts [n], got {type(tokens).__name__} of "
            f"{getattr(tokens, 'dtype', None)!r:.20} "
            f"{getattr(tokens, 'shape', None)} for {count} texts"
        )
