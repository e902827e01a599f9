"""From raw strings to word ids: the part of a model that serving needs, too."""

import os

import tensorflow as tf

from mtl_tf.core import checks, files
from mtl_tf.core.errors import RunError
from mtl_tf.text.tokenizers import Tokenizer, make_tokenizer
from mtl_tf.text.vocabulary import Vocabulary

TOKENIZER_FILE = "tokenizer.json"
VOCABULARY_FILE = "vocabulary.txt"


class TextEncoder:
    """Turns texts into word ids, in Python, in `tf.data` and in exports.

    Args:
        tokenizer: splits the texts.
        vocabulary: knows the ids.
        max_length: tokens of a text that are kept; 0 keeps all.

    Example:

    >>> encoder = TextEncoder.load("run/vocabulary", max_length=400)
    >>> encoder(tf.constant(["a good book", ""])).to_list()
    [[5, 12, 9], []]
    """

    def __init__(
        self, tokenizer: Tokenizer, vocabulary: Vocabulary, max_length: int = 0
    ):
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.max_length = checks.not_negative_integer("max_length", max_length)
        # Made here and now: a table that is made while a graph is traced
        # would be lost to the export.
        self._table = vocabulary.lookup_table

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

    @property
    def tables(self) -> list[tf.lookup.StaticHashTable]:
        """The lookup tables that an export has to track."""
        return [self._table]

    def save(self, directory: str) -> None:
        """Writes `tokenizer.json` and `vocabulary.txt` into `directory`."""
        files.make_directory(directory)
        config = self.tokenizer.get_config()
        files.write_json(os.path.join(directory, TOKENIZER_FILE), config)
        self.vocabulary.save(os.path.join(directory, VOCABULARY_FILE))

    @classmethod
    def load(cls, directory: str, max_length: int = 0) -> "TextEncoder":
        """Reads a saved encoder; its lookup table reads the saved file.

        Raises:
            MtlError: a file is missing or damaged.
        """
        path = os.path.join(directory, TOKENIZER_FILE)
        config = files.read_json(path)
        if not isinstance(config, dict):
            raise RunError(f"{path} must hold an object, found {config!r}")
        vocabulary = Vocabulary.load(os.path.join(directory, VOCABULARY_FILE))
        return cls(make_tokenizer(config), vocabulary, max_length)
