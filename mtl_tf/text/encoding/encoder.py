"""From raw strings to word ids; also used by serving."""

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks, files
from mtl_tf.core.errors import RunError
from mtl_tf.text.encoding.characters import CharacterEncoder
from mtl_tf.text.encoding.characters import casing as casing_of
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer, valid_utf8
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import Vocabulary, first_tokens

TOKENIZER_FILE = "tokenizer.json"
VOCABULARY_FILE = "vocabulary.txt"
RARE_FILE = "rare_words.json"
#: Name of the special token between two texts.
SEPARATOR = "<sep>"


class TextEncoder:
    """Turns texts into word ids, in Python, in `tf.data` and in exports.

    Args:
        tokenizer: splits the texts.
        vocabulary: maps tokens to ids.
        max_length: maximum number of tokens kept per text; 0 keeps all.
        characters: encodes the characters of words, if a model reads them.
        casing: whether a model reads the casing of words.
        rare_from: the first id of the words that occur at most once in the
            training texts; None if it is unknown or there are none.

    Example:

    >>> encoder = TextEncoder.load("run/vocabulary", max_length=400)
    >>> encoder(tf.constant(["a good book", ""])).to_list()
    [[5, 12, 9], []]
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        max_length: int = 0,
        characters: CharacterEncoder | None = None,
        casing: bool = False,
        rare_from: int | None = None,
    ):
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.max_length = checks.not_negative_integer("max_length", max_length)
        # Made at once. A table that is made while a graph is traced would be
        # missing from the export.
        self._table = vocabulary.lookup_table
        self.characters = characters
        self.casing = casing
        self.rare_from = rare_from
        if characters or casing:
            tokenizer.check_words()

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of each text's first `max_length` tokens.

        Args:
            texts: string [n], of any bytes.

        Returns:
            int32 [n, None], never 0; an empty text has an empty row.
        """
        tokens = self.tokenizer(texts)
        if self.max_length:
            tokens = tokens[:, : self.max_length]
        return self.vocabulary.lookup(tokens)

    def of_texts(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        """Returns all inputs that a model reads for texts; see `of_words`.

        Args:
            texts: string [n], of any bytes.
        """
        if not (self.characters or self.casing):
            return {"tokens": self(texts)}
        return self.of_words(self.tokenizer.words(texts))

    def of_words(self, words: tf.RaggedTensor) -> dict[str, tf.RaggedTensor]:
        """Returns all inputs that a model reads for given words.

        Args:
            words: string [n, None], of any bytes.

        Returns:
            For each text's first `max_length` words, T of them: `tokens` int32
            [n, T], never 0; with characters `characters` int32 [n, T, W]; with
            casing `casing` int32 [n, T].
        """
        if self.max_length:
            words = words[:, : self.max_length]
        features = {
            "tokens": self.vocabulary.lookup(self.tokenizer.write(words))
        }
        # Most words of some texts occur several times.
        different, places = tf.unique(words.flat_values)
        different = valid_utf8(different)

        def of_each(
            function: Callable[[tf.Tensor], tf.Tensor],
        ) -> tf.RaggedTensor:
            return words.with_flat_values(
                tf.gather(function(different), places)
            )

        if self.characters:
            features["characters"] = of_each(self.characters)
        if self.casing:
            features["casing"] = of_each(casing_of)
        return features

    def written(self, values: tf.Tensor | tf.RaggedTensor) -> tf.RaggedTensor:
        """The written tokens of `of_texts` and `of_words`, without cutting.

        Args:
            values: texts, string [n], or words, string [n, None].

        Returns:
            string [n, None].
        """
        if not isinstance(values, tf.RaggedTensor):
            if not (self.characters or self.casing):
                return self.tokenizer(values)
            values = self.tokenizer.words(values)
        return self.tokenizer.write(values)

    @functools.cached_property
    def locate(self) -> Callable[[tf.Tensor], tuple[tf.RaggedTensor, ...]]:
        """`Tokenizer.locate` of this encoder's tokenizer, traced once."""
        specs = [tf.TensorSpec([None], tf.string)]
        return tf.function(
            self.tokenizer.locate, input_signature=specs, autograph=False
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the entries that `of_texts` returns."""
        optional = {"characters": self.characters, "casing": self.casing}
        return ("tokens", *(name for name, layer in optional.items() if layer))

    @property
    def separator(self) -> int:
        """The id that separates two joined texts."""
        names = self.vocabulary.specials
        if SEPARATOR in names:
            return len(first_tokens()) + names.index(SEPARATOR)
        return self.vocabulary.OOV

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.vocabulary)

    @property
    def tables(self) -> list[Any]:
        """The lookup tables and similar objects that an export must track."""
        tables = [self._table, *self.tokenizer.trackables]
        return tables + (self.characters.tables if self.characters else [])

    def save(self, directory: str) -> None:
        """Writes the files of an encoder into `directory`.

        They are `tokenizer.json`, `vocabulary.txt`, with rare words
        `rare_words.json`, with characters `characters.txt`, and the files of a
        trained tokenizer.
        """
        files.make_directory(directory)
        config = self.tokenizer.get_config()
        files.write_json(os.path.join(directory, TOKENIZER_FILE), config)
        self.tokenizer.save(directory)
        self.vocabulary.save(os.path.join(directory, VOCABULARY_FILE))
        if self.characters:
            self.characters.save(directory)
        if self.rare_from is not None:
            rare = {"first": self.rare_from}
            files.write_json(os.path.join(directory, RARE_FILE), rare)

    @classmethod
    def load(
        cls,
        directory: str,
        max_length: int = 0,
        max_word_length: int = 0,
        casing: bool = False,
    ) -> "TextEncoder":
        """Reads a saved encoder; its lookup table reads the saved file.

        Args:
            directory: the directory of the encoder.
            max_length: maximum number of tokens kept per text; 0 keeps all.
            max_word_length: maximum number of characters kept per word; 0 for
                an encoder without characters.
            casing: whether a model reads the casing of words.

        Raises:
            MtlError: a file is missing or damaged.
        """
        path = os.path.join(directory, TOKENIZER_FILE)
        config = files.read_json(path)
        if not isinstance(config, dict):
            raise RunError(f"{path} must hold an object, found {config!r}")
        vocabulary = Vocabulary.load(os.path.join(directory, VOCABULARY_FILE))
        characters = None
        if max_word_length:
            characters = CharacterEncoder.load(directory, max_word_length)
        tokenizer = make_tokenizer(config, directory)
        rare = _rare_from(directory, len(vocabulary))
        return cls(tokenizer, vocabulary, max_length, characters, casing, rare)

    @classmethod
    def of_run(
        cls, directory: str, text_config: Mapping[str, Any]
    ) -> "TextEncoder":
        """Reads the encoder of a run from the `text` part of its config.

        Raises:
            MtlError: a file is missing or damaged.
        """
        return cls.load(
            directory,
            text_config["max_length"],
            text_config["characters"]["max_word_length"],
            text_config["casing"],
        )


def _rare_from(directory: str, size: int) -> int | None:
    """The first id of rare words in a saved encoder, if known."""
    path = os.path.join(directory, RARE_FILE)
    if not os.path.exists(path):
        return None
    rare = files.read_json(path)
    first = rare.get("first") if isinstance(rare, dict) else None
    if not isinstance(first, int) or not 1 < first < size:
        raise RunError(
            f"{path} must hold the id of a word as 'first', found {rare!r}"
        )
    return first
