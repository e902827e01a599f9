"""Translation: the best translations of a text."""

import dataclasses
from typing import Any

import tensorflow as tf

from mtl_tf.runs.translating import AT_ONCE, CELLS_AT_ONCE, Translator

from ..serving import Served, Tensors, rows_of, updated


class ServedTranslation(Served):
    """Translation, by beam search in the graph.

    Its signatures return `translation` and `score` [batch], the best one's,
    and `translations` and `scores` [batch, n_best], the best first. Where the
    search found fewer, "" and minus infinity stand for the others.
    """

    def __init__(self, run, models, tasks):
        # What serves is a search with each model.
        self._decoding = run.predictor.decoder.decoding
        searching = {
            id(model): Translator(model, run.encoder, self._decoding)
            for model in models
        }
        super().__init__(run, [searching[id(m)] for m in models], tasks)

    @property
    def tables(self) -> list[Any]:
        """Those of the target languages' decoders."""
        return [t for one in {*self.models} for t in one.tables]

    @property
    def extra(self) -> dict[str, Any]:
        """How translations are looked for."""
        return {"decoding.json": dataclasses.asdict(self._decoding)}

    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The sources' ids, and the words that may replace unknown ones."""
        written = self.encoder.source.tokenizer(inputs["text"])
        found = {"tokens": self.encoder.source.vocabulary.lookup(written)}
        if self._replaces:
            found["words"] = written
        return self.padded(found), {}

    def specs(self) -> dict[str, tf.TensorSpec]:
        """Ids and, where unknown words are replaced, written tokens."""
        specs = {"tokens": tf.TensorSpec([None, None], tf.int32)}
        if self._replaces:
            specs["words"] = tf.TensorSpec([None, None], tf.string)
        return specs

    def key_of(self, task: int) -> int:
        """The pair's number: each has a decoder of its own."""
        return task

    def run(
        self, model: Translator, key: int, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Translates some texts after the others, in the order of length."""
        del task
        search = tf.autograph.experimental.do_not_convert(model.search)
        lengths = tf.math.count_nonzero(
            features["tokens"], axis=1, dtype=tf.int32
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
            own = {name: part[:, :width] for name, part in own.items()}
            texts, scores = search(key, own["tokens"], own.get("words"))
            part = {"translations": texts, "scores": scores}
            found = updated(found, rows, part)
        return found

    def nothing(self, features: Tensors) -> Tensors:
        """Empty texts and zeros."""
        rows = tf.shape(features["tokens"])[0]
        shape = tf.stack([rows, self._decoding.n_best])
        shaped = [None, self._decoding.n_best]
        return {
            "translations": tf.ensure_shape(tf.fill(shape, ""), shaped),
            "scores": tf.ensure_shape(tf.zeros(shape), shaped),
        }

    def answer(self, found, beside, number, task=None) -> Tensors:
        """The translations, and the best of them."""
        del beside, number, task
        best = {
            "translation": found["translations"][:, 0],
            "score": found["scores"][:, 0],
        }
        return {**best, **found}

    @property
    def _replaces(self) -> bool:
        return self._decoding.replace_unknown

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`translation`, `score`, and of several `translations`, `scores`."""
        several = len(outputs["translations"]) > 1
        names = ["translation", "score"]
        names += ["translations", "scores"] if several else []
        return {name: outputs[name] for name in names}


TYPE = ServedTranslation
