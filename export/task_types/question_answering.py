"""Question answering: an answer, and where its words come from."""

import dataclasses
from typing import Any

import tensorflow as tf

from mtl_tf.runs.answering import (
    AT_ONCE,
    CELLS_AT_ONCE,
    SOURCES,
    Answerer,
)
from mtl_tf.text.questions import QuestionEncoder

from ..serving import Served, Tensors, rows_of, updated

_TEXTS = ("context", "question")
_OWN = "own_words"


class ServedAnswers(Served):
    """Question answering, by the run's search in the graph.

    Its signatures return `answer` and `confidence` [batch], the model's
    probability of it, `words` [batch, U] with "" behind the last one, and
    `shares` [batch, U, 3], how much of a word's probability comes from the
    vocabulary, the context and the question.
    """

    inputs = ("question", "context")

    def __init__(self, run, models, tasks):
        # What serves is a search with each model.
        self._decoding = run.predictor.decoder.decoding
        searching = {
            id(model): Answerer(model, run.encoder, self._decoding)
            for model in models
        }
        super().__init__(run, [searching[id(m)] for m in models], tasks)

    @property
    def tables(self) -> list[Any]:
        """Those that turn ids into words."""
        return [t for one in {*self.models} for t in one.tables]

    @property
    def extra(self) -> dict[str, Any]:
        """How answers are looked for, and what shares are of."""
        decoding = dataclasses.asdict(self._decoding)
        return {"decoding.json": decoding | {"sources": list(SOURCES)}}

    @tf.autograph.experimental.do_not_convert
    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The texts' ids, contexts whole, and the examples' own words."""
        whole = QuestionEncoder(self.encoder.encoder)
        ids, own = whole.with_own_words({n: inputs[n] for n in _TEXTS})
        features = {n: self.padded({n: ids[n]}, n)[n] for n in _TEXTS}
        return features | self.padded({_OWN: own}, _OWN), {}

    def specs(self) -> dict[str, tf.TensorSpec]:
        """Ids and words."""
        specs = dict.fromkeys(_TEXTS, tf.TensorSpec([None, None], tf.int32))
        return specs | {_OWN: tf.TensorSpec([None, None], tf.string)}

    def key_of(self, task: int) -> int:
        """Where the task's contexts end; 0 where they are read whole."""
        return self.encoder.task(self.described[task]["name"]).max_length

    def run(
        self, model: Answerer, key: int, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Answers some questions after the others, by length of contexts."""
        del task
        search = tf.autograph.experimental.do_not_convert(model.search)
        features = dict(features)
        if key:
            features["context"] = features["context"][:, :key]
        lengths = tf.math.count_nonzero(
            features["context"], axis=1, dtype=tf.int32
        )
        order = tf.argsort(lengths, stable=True)
        found = self.nothing(features)
        start = tf.constant(0)
        while start < tf.size(order):
            some = order[start : start + AT_ONCE]
            longest = tf.maximum(lengths[some[-1]], 1)
            cells = tf.maximum(CELLS_AT_ONCE // longest, 1)
            rows = some[:cells, None]
            start += tf.size(rows)
            width = tf.maximum(lengths[rows[-1, 0]], 1)
            own = rows_of(features, rows)
            answers = search(
                own["context"][:, :width], own["question"], own[_OWN]
            )
            part = {
                "answers": answers.texts,
                "confidences": answers.confidence,
                "words": self._wide(answers.words[:, 0]),
                "shares": self._wide(answers.shares[:, 0]),
            }
            found = updated(found, rows, part)
        return found

    def _wide(self, part: tf.Tensor) -> tf.Tensor:
        """[rows, U, ...] with as many words as an answer may have."""
        missing = self._decoding.max_length - tf.shape(part)[1]
        others = [[0, 0]] * (part.shape.rank - 2)
        padding = [[0, 0], [0, missing], *others]
        empty = tf.zeros([], part.dtype)
        return tf.pad(part, padding, constant_values=empty)

    def nothing(self, features: Tensors) -> Tensors:
        """Empty texts and zeros."""
        rows = tf.shape(features["context"])[0]
        best, most = self._decoding.n_best, self._decoding.max_length

        def empty(dtype: tf.DType, *shape: int) -> tf.Tensor:
            zeros = tf.zeros(tf.stack([rows, *shape]), dtype)
            return tf.ensure_shape(zeros, [None, *shape])

        return {
            "answers": empty(tf.string, best),
            "confidences": empty(tf.float32, best),
            "words": empty(tf.string, most),
            "shares": empty(tf.float32, most, len(SOURCES)),
        }

    def answer(self, found, beside, number, task=None) -> Tensors:
        """The best answers, as wide as the longest; and several, if asked."""
        del beside, number, task
        lengths = tf.math.count_nonzero(found["words"] != "", 1)
        longest = tf.reduce_max(tf.concat([lengths, [1]], 0))
        outputs = {
            "answer": found["answers"][:, 0],
            "confidence": found["confidences"][:, 0],
            "words": found["words"][:, :longest],
            "shares": found["shares"][:, :longest],
        }
        if self._decoding.n_best > 1:
            outputs |= {n: found[n] for n in ("answers", "confidences")}
        return outputs

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """What `Answerer.answer` says of one question."""
        words = [word for word in outputs["words"] if word]
        shares = [list(own) for own in outputs["shares"][: len(words)]]
        largest = [own.index(max(own)) for own in shares]
        row = {
            "answer": outputs["answer"],
            "confidence": outputs["confidence"],
            "words": words,
            "sources": [SOURCES[place] for place in largest],
            "shares": shares,
        }
        several = ("answers", "confidences")
        return row | {n: outputs[n] for n in several if n in outputs}


TYPE = ServedAnswers
