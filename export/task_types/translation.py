"""Translation: the best translations of a text."""

import math
from typing import Any

import tensorflow as tf

from mtl_tf.runs.translating import Translator

from ..searching import ServedSearch
from ..serving import Tensors


class ServedTranslation(ServedSearch):
    """Translation, by beam search in the graph.

    Its signatures return `translation` and `score` [batch], the best one's,
    and `translations` and `scores` [batch, n_best], the best first. Where the
    search found fewer, "" and minus infinity stand for the others.
    """

    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The sources' ids, and the words that may replace unknown ones."""
        written = self.encoder.source.tokenizer(inputs["text"])
        columns = {"tokens": self.encoder.source.vocabulary.lookup(written)}
        if self._replaces:
            columns["words"] = written
        return self.padded(columns), {}

    def specs(self) -> dict[str, tf.TensorSpec]:
        """Ids and, where unknown words are replaced, written tokens."""
        specs = {"tokens": tf.TensorSpec([None, None], tf.int32)}
        if self._replaces:
            specs["words"] = tf.TensorSpec([None, None], tf.string)
        return specs

    def key_of(self, task: int) -> int:
        """The pair's number: each has a decoder of its own."""
        return task

    @tf.autograph.experimental.do_not_convert
    def run(
        self, model: Translator, key: int, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Translates some texts after the others; see `searched`."""
        del task

        def search(texts: Tensors, width: tf.Tensor) -> Tensors:
            cut = {name: ids[:, :width] for name, ids in texts.items()}
            translations, scores = model.search(
                key, cut["tokens"], cut.get("words")
            )
            return {"translations": translations, "scores": scores}

        return self.searched(features, search)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Empty texts and zeros."""
        rows = tf.shape(features["tokens"])[0]
        shape = tf.stack([rows, self.decoding.n_best])
        shaped = [None, self.decoding.n_best]
        return {
            "translations": tf.ensure_shape(tf.fill(shape, ""), shaped),
            "scores": tf.ensure_shape(tf.zeros(shape), shaped),
        }

    def answer(self, results, beside, number, task=None) -> Tensors:
        """The translations, and the best of them."""
        del beside, number, task
        best = {
            "translation": results["translations"][:, 0],
            "score": results["scores"][:, 0],
        }
        return {**best, **results}

    @property
    def _replaces(self) -> bool:
        return self.decoding.replace_unknown

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`translation`, `score`, and of several `translations`, `scores`."""
        best = {name: outputs[name] for name in ("translation", "score")}
        if len(outputs["translations"]) == 1:
            return best
        # The search found fewer; JSON knows no infinity.
        count = sum(map(math.isfinite, outputs["scores"]))
        several = ("translations", "scores")
        return best | {name: outputs[name][:count] for name in several}


TYPE = ServedTranslation
