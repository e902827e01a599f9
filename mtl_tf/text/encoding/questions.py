"""The texts of question answering: contexts, questions and answers."""

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.text.encoding.character_ngrams import CharacterNgrams
from mtl_tf.text.encoding.decoding import UNKNOWN
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.token_columns import TokenColumn
from mtl_tf.text.tokenizers.escaping import surface_in_graph
from mtl_tf.text.tokenizers.own_words import number_own_words
from mtl_tf.text.vocabulary import OOV_TOKEN, Vocabulary

CONTEXT, QUESTION, ANSWER = "context", "question", "answer"
#: The n-grams of the examples' own words, which the vocabulary lacks.
OWN_WORDS = "own_words"


class QuestionEncoder:
    """Turns a task's questions, contexts and answers into ids.

    Words that the vocabulary lacks get their own ids, from its size on. Equal
    words of an example get equal ids.

    Args:
        encoder: maps texts to ids, with the specials `BOUNDS`; it cuts no text.
        max_length: maximum number of tokens kept of a context, and of a
            question; 0 keeps all. Memory grows with the square of either.
        ngrams: character n-grams of words, if the model reads them.

    Attributes:
        axes: the time axis of each column.
    """

    _names = (CONTEXT, QUESTION, ANSWER)

    def __init__(
        self,
        encoder: TextEncoder,
        max_length: int = 0,
        ngrams: CharacterNgrams | None = None,
    ):
        self._encoder, self.max_length = encoder, max_length
        self._ngrams = ngrams
        names = [*self._names, *[OWN_WORDS][: ngrams is not None]]
        self.axes = {name: name for name in names}

    def __call__(
        self, batch: Mapping[str, tf.Tensor]
    ) -> dict[str, tf.RaggedTensor]:
        """Returns the inputs that a model reads.

        Args:
            batch: "context", "question" and optionally "answer", string [n].

        Returns:
            The same as int32 [n, None], answers with EOS. With n-grams also
            "own_words", those of the examples' own words, int32 [n, None, K].
        """
        features, own_words = self.with_own_words(batch)
        if self._ngrams is not None:
            features[OWN_WORDS] = own_words.with_flat_values(
                self._ngrams(own_words.flat_values)
            )
        if ANSWER in features:
            ids = features[ANSWER]
            end = tf.constant(self._encoder.vocabulary.EOS, tf.int32)
            ends = tf.fill([ids.nrows(), 1], end)
            features[ANSWER] = tf.concat([ids, ends], axis=1)
        return features

    def token_columns(self) -> dict[str, TokenColumn]:
        """The meaning of the ids; see `TokenColumn`."""
        encoder = self._encoder
        return {
            name: TokenColumn(
                (name,),
                encoder.vocabulary.tokens,
                encoder.vocabulary.OOV,
                lambda examples, name: encoder.tokenizer(examples[name]),
                0 if name == ANSWER else self.max_length,
                (0, 0, int(name == ANSWER)),
            )
            for name in self._names
        }

    def with_own_words(
        self, batch: Mapping[str, tf.Tensor]
    ) -> tuple[dict[str, tf.RaggedTensor], tf.RaggedTensor]:
        """Returns ids without end tokens, and the examples' own words.

        Args:
            batch: see `__call__`.

        Returns:
            int32 [n, None] by name; and the written tokens whose ids are the
            vocabulary's size, one more, ..., string [n, None].
        """
        vocabulary = self._encoder.vocabulary
        names = [name for name in self._names if name in batch]
        tokens = [self._encoder.tokenizer(batch[name]) for name in names]
        if self.max_length:
            tokens = [
                words if name == ANSWER else words[:, : self.max_length]
                for name, words in zip(names, tokens)
            ]
        ids, own_words = number_own_words(
            tokens,
            [vocabulary.lookup(words) for words in tokens],
            vocabulary.OOV,
            len(vocabulary),
        )
        return dict(zip(names, ids)), own_words


class QuestionText:
    """All texts of a question answering run.

    Args:
        encoder: encoder of all texts; see `QuestionEncoder`.
        generative: how many words, the first ones, can be generated without
            being copied.
        max_length: maximum number of tokens kept of a context, and of a
            question; 0 keeps all.
        whole: names of the tasks whose texts are not cut.
        ngrams: character n-grams of words, if the model reads them.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        generative: int,
        max_length: int = 0,
        whole: Iterable[str] = (),
        ngrams: CharacterNgrams | None = None,
    ):
        self.encoder, self.ngrams = encoder, ngrams
        size = len(encoder.vocabulary)
        self.generative = min(generative, size) if generative else size
        self._max_length, self._whole = max_length, frozenset(whole)

    def task(self, name: str) -> QuestionEncoder:
        """The encoder of a task's examples."""
        cut = 0 if name in self._whole else self._max_length
        return QuestionEncoder(self.encoder, cut, self.ngrams)

    def own_ngrams(self, own_words: tf.Tensor) -> tf.Tensor | None:
        """The n-grams of examples' own words, if the model reads them.

        Args:
            own_words: written tokens, string [B, O]; "" is padding.

        Returns:
            int32 [B, O, K], or None.
        """
        if self.ngrams is None:
            return None
        ngrams = self.ngrams(tf.reshape(own_words, [-1]))
        shape = tf.concat([tf.shape(own_words), [self.ngrams.most]], 0)
        return tf.reshape(ngrams, shape)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that have vectors."""
        return self.encoder.vocabulary

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.vocabulary)

    @property
    def tables(self) -> list[Any]:
        """The lookup tables that an export must track."""
        ngrams = self.ngrams.tables if self.ngrams is not None else []
        return self.encoder.tables + ngrams

    def save(self, directory: str) -> None:
        """Writes the encoder's files, and those of the n-grams."""
        self.encoder.save(directory)
        if self.ngrams is not None:
            self.ngrams.save(directory)


class AnswerTexts:
    """Turns ids that a model generated into answers, in Python and in exports.

    Args:
        encoder: see `QuestionEncoder`.
    """

    def __init__(self, encoder: TextEncoder):
        self._encoder = encoder
        # Made at once, not while tracing; see `TextEncoder`.
        self._table = encoder.vocabulary.token_table
        self._unknown = encoder.tokenizer.alone(tf.constant(UNKNOWN))

    def __call__(
        self, ids: tf.Tensor, length: tf.Tensor, own_words: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the answers and their words.

        Args:
            ids: int32 [B, n, U].
            length: int32 [B, n], number of words of each answer.
            own_words: string [B, O], the examples' own words; O may be 0.

        Returns:
            string [B, n], and [B, n, U]: the words without carried spaces, with
            "" after the last one.
        """
        size = len(self._encoder.vocabulary)
        vocabulary_words = self._table.lookup(
            tf.cast(tf.minimum(ids, size - 1), tf.int64)
        )
        vocabulary_words = tf.where(
            vocabulary_words == OOV_TOKEN, self._unknown, vocabulary_words
        )
        # Padded, so that an example without own words has one to look up.
        own_words = tf.pad(own_words, [[0, 0], [0, 1]], constant_values="")
        own_word = tf.clip_by_value(ids - size, 0, tf.shape(own_words)[1] - 1)
        copied = tf.gather(own_words, own_word, batch_dims=1)
        words = tf.where(ids < size, vocabulary_words, copied)
        inside = tf.range(tf.shape(ids)[2]) < length[..., None]
        words = tf.where(inside, words, "")
        flat = tf.reshape(words, [-1, tf.shape(ids)[2]])
        mask = tf.reshape(inside, tf.shape(flat))
        texts = self._encoder.tokenizer.detokenize(
            tf.ragged.boolean_mask(flat, mask)
        )
        return tf.reshape(texts, tf.shape(ids)[:2]), surface_in_graph(words)

    @property
    def tables(self) -> list[Any]:
        """The lookup tables that an export must track."""
        return [self._table]
