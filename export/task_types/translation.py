"""Translation: the best translations of a text."""

from typing import Any

import tensorflow as tf

from mtl_tf.models.translation.search import most_tokens
from mtl_tf.prediction.translating import Translator, several

from ..searching import ServedSearch
from ..serving import Tensors

# The alignment outputs, with the value after the last word.
_ALIGNED = {"words": "", "alignment": -1}


class ServedTranslation(ServedSearch):
    """Translation, by beam search in the graph.

    Its signatures return `translation` and `score` [batch] of the best
    translation, and `translations` and `scores` [batch, n_best], the best
    first, all different; "" and minus infinity if the search found fewer. With
    `Decoding.alignments` they also return `words` [batch, U] of the best one
    and `source_words` [batch, S], both "" after the last word, and `alignment`
    [batch, U], the index of the source word with the most attention, -1 after
    the last word.
    """

    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The sources' ids, and the words that replace unknown ones."""
        written = self.encoder.source.tokenizer(inputs["text"])
        columns = {"tokens": self.encoder.source.vocabulary.lookup(written)}
        if self._replaces:
            columns["words"] = written
        beside = {}
        if self.decoding.alignments:
            beside["source_words"] = written.to_tensor()
        return self.padded(columns), beside

    def specs(self) -> dict[str, tf.TensorSpec]:
        """The specs of ids and, to replace unknown words, of token texts."""
        specs = {"tokens": tf.TensorSpec([None, None], tf.int32)}
        if self._replaces:
            specs["words"] = tf.TensorSpec([None, None], tf.string)
        return specs

    def key_of(self, task: int) -> int:
        """The pair's number, as each pair has its own decoder."""
        return task

    @tf.autograph.experimental.do_not_convert
    def run(
        self, model: Translator, key: int, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Translates texts in batches; see `searched`."""
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
        """Empty texts and zeros, without aligned words."""
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
        """The largest number of tokens of any of the translations, int32 []."""
        return most_tokens(self.decoding.limit, tf.shape(features["tokens"])[1])

    def answer(self, results, beside, number, task=None) -> Tensors:
        """The translations, and the best one of each."""
        del task
        best = {
            "translation": results["translations"][:, 0],
            "score": results["scores"][:, 0],
        }
        outputs = {**best, **results}
        if self.decoding.alignments:
            is_word = tf.cast(results["alignment"] >= 0, tf.int32)
            longest = tf.reduce_max(tf.reduce_sum(is_word, 1))
            # Without rows, the maximum is the smallest integer.
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
        """`translation`, `score`, and the other fields of `Run.predict`."""
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
