"""Vocabularies, which map written tokens to ids."""

import collections
import hashlib
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, files, special_ids
from mtl_tf.core.errors import ConfigError, DataError

# No tokenizer writes these: a backslash in a text is written as two.
PAD_TOKEN = "\\pad"
OOV_TOKEN = "\\oov"
#: Names of the start and end token of a generated text: ids BOS and EOS.
BOUNDS = ("<s>", "</s>")


class Vocabulary:
    r"""A list of written tokens; a token's id is its position.

    Id 0 is padding, and id 1 stands for every word that is not in the list. The
    vocabulary of a target language has `\<s>` and `\</s>` after them. No text
    contains such a token, because a backslash in a text is written as two. The
    vocabulary is saved as UTF-8 text, one token per line. TensorFlow's lookup
    tables read this file directly, so it becomes an asset of an export.

    Args:
        tokens: `\pad`, `\oov`, specials, then the words, each once.

    Attributes:
        specials: names of the specials, such as ("<s>", "</s>").

    Raises:
        DataError: the list breaks one of these rules.
    """

    PAD = special_ids.PAD
    OOV = special_ids.OOV
    # With the specials BOUNDS.
    BOS = special_ids.BOS
    EOS = special_ids.EOS

    def __init__(self, tokens: Sequence[str]):
        self.tokens = list(tokens)
        _check_tokens(self.tokens, "vocabulary")
        after = itertools.takewhile(_is_special, self.tokens[2:])
        self.specials = tuple(token[1:] for token in after)
        self._table = None
        self._path = ""
        self._token_table = None

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def count(batches: Iterable[Any]) -> collections.Counter[str]:
        """Counts tokens.

        Args:
            batches: ragged string tensors [n, None], or arrays or lists of
                strings of any shape.

        Returns:
            How often each written token occurs.
        """
        found: collections.Counter[Any] = collections.Counter()
        for batch in batches:
            if isinstance(batch, tf.RaggedTensor):
                batch = batch.flat_values
            if tf.is_tensor(batch):
                batch = batch.numpy()
            found.update(np.asarray(batch, object).ravel().tolist())
        counts: collections.Counter[str] = collections.Counter()
        for token, n in found.items():
            counts[tf.compat.as_text(token)] += n
        return counts

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        min_count: int = 1,
        max_size: int = 0,
        specials: Sequence[str] = (),
        more: Iterable[str] = (),
    ) -> "Vocabulary":
        """Builds a vocabulary of the frequent tokens, most frequent first.

        Equally frequent tokens are sorted by their code points, so equal counts
        give equal vocabularies.

        Args:
            counts: how often each written token occurs.
            min_count: minimum number of occurrences of a token.
            max_size: maximum number of entries, including padding, the unknown
                word and specials; 0 sets no limit.
            specials: names of specials, each beginning with "<".
            more: tokens to add after the others, whatever their count.

        Raises:
            ConfigError: `min_count` below 1, or `max_size` negative or too
                small for a word.
        """
        checks.positive_integer("min_count", min_count)
        checks.not_negative_integer("max_size", max_size)
        reserved_tokens = first_tokens(specials)
        places_for_words(max_size, len(reserved_tokens))

        def frequency(token: str) -> tuple[int, str]:
            return -counts.get(token, 0), token

        frequent = {
            token for token, count in counts.items() if count >= min_count
        }
        additional = sorted(set(more) - frequent, key=frequency)
        tokens = [
            *reserved_tokens,
            *sorted(frequent, key=frequency),
            *additional,
        ]
        return cls(tokens[:max_size] if max_size else tokens)

    def save(self, path: str) -> None:
        """Writes the tokens, one per line."""
        files.write_text(path, "".join(f"{token}\n" for token in self.tokens))

    @classmethod
    def load(cls, path: str) -> "Vocabulary":
        """Reads a saved vocabulary; its lookup table then reads the same file.

        Raises:
            DataError: the file is missing or is not a vocabulary.
        """
        lines = _lines(path, _read(path))
        _check_tokens(lines, path)
        vocabulary = cls(lines)
        vocabulary._table = vocabulary.table(path)
        vocabulary._path = path
        return vocabulary

    def table(self, path: str) -> tf.lookup.StaticHashTable:
        """Makes a lookup table from this vocabulary's saved file.

        Args:
            path: the file. A SavedModel that tracks the table copies the file
                to its assets, and can then be moved.

        Returns:
            A table string -> int64; unknown tokens give 1.

        Raises:
            DataError: the file is missing or holds another vocabulary.
        """
        return self._of_file(path, _FileInitializer, self.OOV)

    def _of_file(
        self, path: str, kind: type["_FileInitializer"], default: int | str
    ) -> tf.lookup.StaticHashTable:
        content = _read(path)
        if _lines(path, content) != self.tokens:
            raise DataError(f"{path} holds another vocabulary: save it again")
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        with tf.init_scope():
            initializer = kind(os.path.abspath(path), digest)
            return tf.lookup.StaticHashTable(initializer, default)

    def lookup(self, tokens: tf.RaggedTensor | tf.Tensor) -> Any:
        """Returns the ids, int32, of written tokens, ragged or dense."""
        ragged = isinstance(tokens, tf.RaggedTensor)
        flat = tokens.flat_values if ragged else tokens
        ids = tf.cast(self.lookup_table.lookup(flat), tf.int32)
        return tokens.with_flat_values(ids) if ragged else ids

    @property
    def lookup_table(self) -> tf.lookup.StaticHashTable:
        """The table of `lookup`: from the file after `load`, else from memory.

        An export must track it.
        """
        if self._table is None:
            with tf.init_scope():
                initializer = tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self.tokens),
                    tf.range(len(self.tokens), dtype=tf.int64),
                )
                self._table = tf.lookup.StaticHashTable(initializer, self.OOV)
        return self._table

    @property
    def token_table(self) -> tf.lookup.StaticHashTable:
        """The table id -> written token, from the file after `load`.

        Invalid ids give the unknown word. An export must track it.
        """
        if self._token_table is None:
            if self._path:
                self._token_table = self._of_file(
                    self._path, _TokensOfFile, OOV_TOKEN
                )
                return self._token_table
            with tf.init_scope():
                initializer = tf.lookup.KeyValueTensorInitializer(
                    tf.range(len(self.tokens), dtype=tf.int64),
                    tf.constant(self.tokens),
                )
                self._token_table = tf.lookup.StaticHashTable(
                    initializer, OOV_TOKEN
                )
        return self._token_table


def places_for_words(max_size: int, reserved: int) -> int:
    """How many words a vocabulary of limited size can hold; 0 for no limit.

    Args:
        max_size: `text.max_size`; 0 sets no limit.
        reserved: number of entries that are not words.

    Raises:
        ConfigError: there is no room for a word.
    """
    if max_size and max_size <= reserved:
        raise ConfigError(
            f"text.max_size must be 0 or above {reserved}, since padding, the "
            f"unknown word and the like are {reserved} of the entries, got "
            f"{max_size}"
        )
    return max_size and max_size - reserved


def first_tokens(specials: Sequence[str] = ()) -> list[str]:
    """The tokens before the words of a vocabulary.

    Args:
        specials: names of specials, each beginning with "<".
    """
    for name in specials:
        if not name.startswith("<"):
            raise ValueError(f"a special must begin with '<', got {name!r}")
    return [PAD_TOKEN, OOV_TOKEN, *(f"\\{name}" for name in specials)]


def _is_special(token: str) -> bool:
    return token.startswith("\\<")


class _FileInitializer(tf.lookup.TextFileInitializer):
    """Reads tokens from a file; the table is named after the file's content.

    TensorFlow names the table after the path. Every export would then contain
    that path, and a file rewritten within one process would be served from the
    table of the old one.
    """

    def __init__(self, path: str, digest: str):
        self._digest = digest
        super().__init__(path, *self._columns)

    @property
    def _columns(self) -> tuple:
        index = tf.lookup.TextFileIndex
        return tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER

    @property
    def _shared_name(self) -> str:
        return f"vocabulary_{self._digest}"


class _TokensOfFile(_FileInitializer):
    """The same in the other direction: from line numbers to tokens."""

    @property
    def _columns(self) -> tuple:
        tokens, line, ids, number = super()._columns
        return ids, number, tokens, line

    @property
    def _shared_name(self) -> str:
        return f"tokens_{self._digest}"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DataError(f"cannot read the vocabulary {path}: {error.strerror}")


def _lines(path: str, content: bytes) -> list[str]:
    try:
        return content.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: the vocabulary is not UTF-8")


def _check_tokens(tokens: Sequence[str], path: str) -> None:
    for line, marker in enumerate((PAD_TOKEN, OOV_TOKEN), start=1):
        token = tokens[line - 1] if len(tokens) >= line else None
        if token != marker:
            raise DataError(
                f"{path}:{line}: a vocabulary starts with the lines "
                f"{PAD_TOKEN} and {OOV_TOKEN}, found {token!r}"
            )
    first_line: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        if not token or "\n" in token or token.endswith("\r"):
            raise DataError(
                f"{path}:{line}: {token!r} is not a written token: it must "
                "not be empty nor hold a line break"
            )
        if first_line.setdefault(token, line) != line:
            raise DataError(
                f"{path}:{line}: {token!r} stands on line {first_line[token]} "
                "already"
            )
