"""Answers questions of splits and of users with a trained model."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import EOS, PAD
from mtl_tf.models.answering.question_answering import QuestionAnsweringModel
from mtl_tf.prediction import search_batches
from mtl_tf.prediction.search_options import SearchOptions
from mtl_tf.text.encoding.decoding import distinct
from mtl_tf.text.encoding.questions import (
    ANSWER,
    CONTEXT,
    QUESTION,
    AnswerTexts,
    QuestionText,
)

#: The possible origins of an answer's word, in the order of the shares.
SOURCES = ("vocabulary", "context", "question")
_ENCODED_AT_ONCE = 1024


@dataclasses.dataclass(frozen=True)
class Decoding(SearchOptions):
    """Options of the search for answers.

    Attributes:
        max_length: the most tokens of an answer, including its end.

    Raises:
        ConfigError: a value is wrong.
    """

    group = "answering"

    max_length: int = 100

    def __post_init__(self):
        super().__post_init__()
        checks.positive_integer("max_length", self.max_length)


class Answers(NamedTuple):
    """The `n_best` answers to each of B questions, the best first.

    Attributes:
        texts: string `[B, n]`, all different; "" if fewer were found.
        confidence: float32 `[B, n]`, the model's probability of each answer,
            without the length penalty of their ranking; 0 if fewer were found.
        words: string `[B, U]`, of the best answer, "" after the last one.
        shares: float32 `[B, U, 3]`, the share of a word's probability from each
            of `SOURCES`.
    """

    texts: tf.Tensor
    confidence: tf.Tensor
    words: tf.Tensor
    shares: tf.Tensor


class Answerer:
    """Answers the questions of a run's tasks.

    Args:
        model: the trained model.
        text: the run's encoder.
        decoding: the search options.
    """

    def __init__(
        self,
        model: QuestionAnsweringModel,
        text: QuestionText,
        decoding: Decoding = Decoding(),
    ):
        self.model, self.text, self.decoding = model, text, decoding
        self._texts = AnswerTexts(text.encoder)
        ids = tf.TensorSpec([None, None], tf.int32)
        self._search = tf.function(
            self.search,
            input_signature=[ids, ids, tf.TensorSpec([None, None], tf.string)],
            autograph=False,
        )
        self._traced_likelihoods = tf.function(
            self._log_likelihoods,
            input_signature=[ids] * 3
            + [tf.TensorSpec([None, None], tf.string)],
            autograph=False,
        )

    @property
    def tables(self) -> list[Any]:
        """The tables, besides the encoder's, that an export must track."""
        return self._texts.tables

    def search(
        self, context: tf.Tensor, question: tf.Tensor, own_words: tf.Tensor
    ) -> Answers:
        """Answers questions, in Python or in a graph.

        Args:
            context: int32 `[B, L]`, 0 is padding.
            question: int32 `[B, M]`.
            own_words: string `[B, O]`, the words of each example whose ids
                follow those of the vocabulary; "" is padding.
        """
        decoding = self.decoding
        outputs = self.model.answer(
            context,
            question,
            max_length=decoding.max_length,
            beam=decoding.beam,
            n_best=decoding.n_best,
            length_penalty=decoding.length_penalty,
            own_words=self.text.own_ngrams(own_words),
        )
        texts, words = self._texts(
            outputs["tokens"], outputs["length"], own_words
        )
        words = words[:, 0]
        inside = tf.not_equal(words, "")[..., None]
        shares = tf.where(inside, outputs["sources"][:, 0], 0.0)
        chances = tf.exp(outputs["log_probability"])
        return Answers(*distinct(texts, chances, 0.0), words, shares)

    def _log_likelihoods(
        self,
        context: tf.Tensor,
        question: tf.Tensor,
        answer: tf.Tensor,
        own_words: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The log-likelihoods of given answers, and their words.

        Args:
            context, question, own_words: as for `search`.
            answer: int32 `[B, U]`, with the end's id after the last word.

        Returns:
            float32 `[B, U]`; string `[B, U]`, "" from the end on.
        """
        values, ids = self.model.log_likelihoods(
            context, question, answer, self.text.own_ngrams(own_words)
        )
        real = tf.not_equal(ids, PAD) & tf.not_equal(ids, EOS)
        length = tf.reduce_sum(tf.cast(real, tf.int32), -1)
        _, words = self._texts(ids[:, None], length[:, None], own_words)
        return values, words[:, 0]

    def answer(
        self, task: str, examples: Sequence[Mapping[str, str]]
    ) -> list[dict[str, Any]]:
        """Answers questions.

        Args:
            task: the task's name.
            examples: mappings with "context" and "question".

        Returns:
            For each example "answer", its "confidence", its "words", their
            "sources" (the one of `SOURCES` with the largest share) and
            "shares"; if there are several answers, also "answers" and
            "confidences".
        """
        answers: list[dict[str, Any]] = [{}] * len(examples)
        for start in range(0, len(examples), _ENCODED_AT_ONCE):
            part = examples[start : start + _ENCODED_AT_ONCE]
            for place, answer in self._answered(task, part):
                answers[start + place] = answer
        return answers

    def log_likelihoods(
        self, task: str, examples: Sequence[Mapping[str, str]]
    ) -> list[tuple[list[str], np.ndarray]]:
        """The log-likelihoods of given answers, word by word.

        Args:
            task: the task's name.
            examples: mappings with "context", "question" and "answer".

        Returns:
            For each example the answer's words, with `UNKNOWN` for words that
            the model can neither write nor copy, and float32 [words + 1], the
            last one that of the end.
        """
        scored: list[Any] = [None] * len(examples)
        for start in range(0, len(examples), _ENCODED_AT_ONCE):
            part = examples[start : start + _ENCODED_AT_ONCE]
            for place, *values in self._scored(task, part):
                scored[start + place] = tuple(values)
        return scored

    def _scored(self, task: str, examples: Sequence[Mapping[str, str]]):
        """Yields indices, words and values, in any order."""
        names = (CONTEXT, QUESTION, ANSWER)
        texts = {name: _tensor(examples, name) for name in names}
        ids, own_words = self.text.task(task).with_own_words(texts)
        counts = ids[ANSWER].row_lengths().numpy()
        end = tf.fill([len(examples), 1], EOS)
        ids[ANSWER] = tf.concat([ids[ANSWER], end], 1)
        lengths = np.maximum(ids[CONTEXT].row_lengths().numpy(), counts + 1)
        for rows in search_batches.by_length(lengths, f"{task}: scoring"):
            values, words = self._traced_likelihoods(
                *(tf.gather(ids[n], rows).to_tensor() for n in names),
                tf.gather(own_words, rows).to_tensor(),
            )
            values, words = values.numpy(), words.numpy()
            for number, row in enumerate(rows):
                count = counts[row]
                written = [
                    word.decode("utf-8", "replace")
                    for word in words[number, :count]
                ]
                yield row, written, values[number, : count + 1]

    def _answered(self, task: str, examples: Sequence[Mapping[str, str]]):
        """Yields indices and answers, in any order."""
        names = (CONTEXT, QUESTION)
        texts = {name: _tensor(examples, name) for name in names}
        ids, own_words = self.text.task(task).with_own_words(texts)
        lengths = ids[CONTEXT].row_lengths().numpy()
        for rows in search_batches.by_length(lengths, f"{task}: decoding"):
            answers = self._search(
                *(tf.gather(ids[n], rows).to_tensor() for n in ids),
                tf.gather(own_words, rows).to_tensor(),
            )
            answers = [part.numpy() for part in answers]
            for number, row in enumerate(rows):
                yield row, _as_dict(*(part[number] for part in answers))


def _tensor(examples: Sequence[Mapping[str, str]], name: str) -> tf.Tensor:
    """One text of all examples, string [n]."""
    return tf.constant(
        [example[name].encode("utf-8", "replace") for example in examples]
    )


def _as_dict(
    texts: np.ndarray,
    confidence: np.ndarray,
    words: np.ndarray,
    shares: np.ndarray,
) -> dict[str, Any]:
    """The answers to one question, as JSON values."""
    texts = [text.decode("utf-8", "replace") for text in texts]
    chances = [float(value) for value in confidence]
    length = int(np.sum(words != b""))
    best = {
        "answer": texts[0],
        "confidence": chances[0],
        "words": [w.decode("utf-8", "replace") for w in words[:length]],
        "sources": [SOURCES[n] for n in shares[:length].argmax(-1)],
        "shares": shares[:length].tolist(),
    }
    if len(texts) > 1:
        best |= several(texts, chances)
    return best


def several(texts: Sequence[str], chances: Sequence[float]) -> dict[str, Any]:
    """The non-empty "answers" to a question, with their "confidences".

    Args:
        texts, chances: a row of `Answers`.
    """
    pairs = [pair for pair in zip(texts, chances) if any(pair)]
    answers, confidences = map(list, zip(*pairs)) if pairs else ([], [])
    return {"answers": answers, "confidences": confidences}
