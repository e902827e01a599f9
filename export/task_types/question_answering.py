"""Question answering: an answer, and where its words come from."""

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from mtl_tf.prediction.answering import SOURCES, Answerer, several
from mtl_tf.text.encoding.questions import QuestionEncoder

from .. import exported_files
from ..searching import ServedSearch
from ..serving import Tensors

_TEXTS = ("context", "question")
_QUESTION = "question"
_OWN = "own_words"


class ServedAnswers(ServedSearch):
    """Question answering, by the run's search in the graph.

    Its signatures return `answer` and its probability `confidence`, [batch];
    `words` [batch, U], "" after the last one; and `shares` [batch, U, 3], the
    shares of a word's probability that come from the vocabulary, the context
    and the question. With `n_best` above 1 also `answers` and `confidences`
    [batch, n_best], the best first, all different; "" and 0 if there are fewer.
    """

    inputs = ("question", "context")
    first = "context"

    @property
    def names_tasks(self) -> bool:
        """Only if tasks have own models; else the question says what to do."""
        return len({id(self.models[task]) for task in self.tasks}) > 1

    def for_all(self) -> Callable[..., Tensors]:
        """The function of `serving_default`: `question` and `context`.

        Contexts are cut at the largest limit of any task. If tasks have their
        own models, rows also name their `task`.
        """
        if self.names_tasks:
            return super().for_all()
        task = max(self.tasks, key=lambda task: self.key_of(task) or math.inf)
        return self.for_task(task, is_known=False)

    @property
    def questions(self) -> dict[str, str]:
        """The questions that config entries fix for all rows, by task."""
        named = {task["name"]: task for task in self.described}
        asked = {name: named[name].get(_QUESTION) for name in self.names}
        return {name: question for name, question in asked.items() if question}

    @property
    def extra(self) -> dict[str, Any]:
        """Decoding options, the order of shares, and the tasks' questions."""
        extra = super().extra
        more = {"sources": list(SOURCES), "questions": self.questions}
        extra[exported_files.DECODING].update(more)
        return extra

    @tf.autograph.experimental.do_not_convert
    def completed(self, strings: Tensors, number: tf.Tensor) -> Tensors:
        """Replaces empty questions by those of the tasks' entries.

        Rows without a known task get one only if all tasks share it.
        """
        if not self.questions:
            return strings
        questions = [t.get(_QUESTION, "") for t in self.described]
        of_tasks = {questions[task] for task in self.tasks}
        questions.append(of_tasks.pop() if len(of_tasks) == 1 else "")
        place = tf.where(number < 0, len(questions) - 1, number)
        of_row = strings[_QUESTION]
        of_entry = tf.gather(tf.constant(questions), place)
        asked = tf.where(tf.equal(of_row, ""), of_entry, of_row)
        return {**strings, _QUESTION: asked}

    @tf.autograph.experimental.do_not_convert
    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The texts' ids, with whole contexts, and the examples' own words."""
        encoder = QuestionEncoder(self.encoder.encoder)
        ids, own_words = encoder.with_own_words({n: inputs[n] for n in _TEXTS})
        features = {n: self.padded({n: ids[n]}, n)[n] for n in _TEXTS}
        return features | self.padded({_OWN: own_words}, _OWN), {}

    def specs(self) -> dict[str, tf.TensorSpec]:
        """The specs of ids and words."""
        specs = dict.fromkeys(_TEXTS, tf.TensorSpec([None, None], tf.int32))
        return specs | {_OWN: tf.TensorSpec([None, None], tf.string)}

    def key_of(self, task: int) -> int:
        """The length at which the task's contexts are cut; 0 for no cut."""
        return self.encoder.task(self.described[task]["name"]).max_length

    @tf.autograph.experimental.do_not_convert
    def run(
        self, model: Answerer, key: int, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Answers questions in batches; see `searched`."""
        del task
        features = dict(features)
        if key:
            features |= {name: features[name][:, :key] for name in _TEXTS}

        def search(texts: Tensors, width: tf.Tensor) -> Tensors:
            answers = model.search(
                texts["context"][:, :width], texts["question"], texts[_OWN]
            )
            return {
                "answers": answers.texts,
                "confidences": answers.confidence,
                "words": self._wide(answers.words),
                "shares": self._wide(answers.shares),
            }

        return self.searched(features, search)

    def _wide(self, words: tf.Tensor) -> tf.Tensor:
        """Pads [rows, U, ...] to the largest number of words of an answer."""
        missing = self.decoding.max_length - tf.shape(words)[1]
        unpadded = [[0, 0]] * (words.shape.rank - 2)
        padding = [[0, 0], [0, missing], *unpadded]
        empty = tf.zeros([], words.dtype)
        return tf.pad(words, padding, constant_values=empty)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Empty texts and zeros."""
        rows = tf.shape(features["context"])[0]
        best, most = self.decoding.n_best, self.decoding.max_length

        def empty(dtype: tf.DType, *shape: int) -> tf.Tensor:
            zeros = tf.zeros(tf.stack([rows, *shape]), dtype)
            return tf.ensure_shape(zeros, [None, *shape])

        return {
            "answers": empty(tf.string, best),
            "confidences": empty(tf.float32, best),
            "words": empty(tf.string, most),
            "shares": empty(tf.float32, most, len(SOURCES)),
        }

    def answer(self, results, beside, number, task=None) -> Tensors:
        """The best answers, as wide as the longest; several if configured."""
        del beside, number, task
        lengths = tf.math.count_nonzero(results["words"] != "", 1)
        longest = tf.reduce_max(tf.concat([lengths, [1]], 0))
        outputs = {
            "answer": results["answers"][:, 0],
            "confidence": results["confidences"][:, 0],
            "words": results["words"][:, :longest],
            "shares": results["shares"][:, :longest],
        }
        if self.decoding.n_best > 1:
            outputs |= {n: results[n] for n in ("answers", "confidences")}
        return outputs

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """The fields of `Answerer.answer` for one question."""
        words = [word for word in outputs["words"] if word]
        shares = [list(of_word) for of_word in outputs["shares"][: len(words)]]
        largest = [of_word.index(max(of_word)) for of_word in shares]
        row = {
            "answer": outputs["answer"],
            "confidence": outputs["confidence"],
            "words": words,
            "sources": [SOURCES[source] for source in largest],
            "shares": shares,
        }
        if "answers" in outputs:
            row |= several(outputs["answers"], outputs["confidences"])
        return row


TYPE = ServedAnswers
