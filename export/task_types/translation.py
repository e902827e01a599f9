"""Translation: the best translations of a text."""

from typing import Any

import tensorflow as tf

from mtl_tf.models.translation_search import most_tokens
from mtl_tf.runs.translating import Translator, several

from ..searching import ServedSearch
from ..serving import Tensors

# What says which words are aligned, with what stands behind the last one.
_ALIGNED = {"words": "", "alignment": -1}


class ServedTranslation(ServedSearch):
    """Translation, by beam search in the graph.

    Its signatures return `translation` and `score` [batch], the best one's,
    and `translations` and `scores` [batch, n_best], the best first, all
    different. Where the search found fewer, "" and minus infinity stand for
    the others. With
    `Decoding.alignments` they also return the best one's `words` [batch, U],
    `source_words` [batch, S], with "" behind the last ones, and `alignment`
    [batch, U], the places among these that the words attended to most, with
    -1 behind the last one.
    """

    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The sources' ids, and the words that may replace unknown ones."""
        written = self.encoder.source.tokenizer(inputs["text"])
        columns = {"tokens": self.encoder.source.vocabulary.lookup(written)}
        if self._replaces:
            columns["words"] = written
        beside = {}
        if self.decoding.alignments:
            beside["source_words"] = written.to_tensor()
        return self.padded(columns), beside

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
        most = self._most(features)

        def search(texts: Tensors, width: tf.Tensor) -> Tensors:
            cut = {name: ids[:, :width] for name, ids in texts.items()}
            outputs = model.search(key, cut["tokens"], cut.get("words"))
            for name, empty in _ALIGNED.items():
                if name in outputs:
                    behind = [[0, 0], [0, most - tf.shape(outputs[name])[1]]]
                    outputs[name] = tf.pad(
                        outputs[name], behind, constant_values=empty
                    )
            return outputs

        return self.searched(features, search)

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Empty texts and zeros; no words that are aligned."""
        rows = tf.shape(features["tokens"])[0]
        shape = tf.stack([rows, self.decoding.n_best])
        shaped = [None, self.decoding.n_best]
        outputs = {
            "translations": tf.ensure_shape(tf.fill(shape, ""), shaped),
            "scores": tf.ensure_shape(tf.zeros(shape), shaped),
        }
        if self.decoding.alignments:
            shape = tf.stack([rows, self._most(features)])
            for name, empty in _ALIGNED.items():
                outputs[name] = tf.fill(shape, empty)
        return outputs

    def _most(self, features: Tensors) -> tf.Tensor:
        """The most tokens of a translation of any of the texts, int32 []."""
        return most_tokens(self.decoding.limit, tf.shape(features["tokens"])[1])

    def answer(self, results, beside, number, task=None) -> Tensors:
        """The translations, and the best of them."""
        del task
        best = {
            "translation": results["translations"][:, 0],
            "score": results["scores"][:, 0],
        }
        outputs = {**best, **results}
        if self.decoding.alignments:
            is_word = tf.cast(results["alignment"] >= 0, tf.int32)
            longest = tf.reduce_max(tf.reduce_sum(is_word, 1))
            # Of no rows at all it is the least integer.
            longest = tf.maximum(longest, 0)
            for name in _ALIGNED:
                outputs[name] = results[name][:, :longest]
            is_known = number[:, None] >= 0
            outputs["source_words"] = tf.where(
                is_known, beside["source_words"], ""
            )
        return outputs

    @property
    def _replaces(self) -> bool:
        return self.decoding.replace_unknown

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`translation`, `score`, and what else `Run.predict` gives."""
        fields = {name: outputs[name] for name in ("translation", "score")}
        if len(outputs["translations"]) > 1:
            fields |= several(outputs["translations"], outputs["scores"])
        if "alignment" in outputs:
            places = [n for n in outputs["alignment"] if n >= 0]
            fields["words"] = outputs["words"][: len(places)]
            fields["source_words"] = list(filter(None, outputs["source_words"]))
            fields["alignment"] = places
        return fields


TYPE = ServedTranslation
