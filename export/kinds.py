"""What is served of each kind of task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.runs.translating import (
    AT_ONCE,
    CELLS_AT_ONCE,
    Decoding,
    Translator,
)
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.translation import TranslationText

from .graph import Served, ServedLabels, Tensors, rows_of, updated

DEFAULT = "serving_default"


class ServedClassification(ServedLabels):
    """Classification.

    Its signatures return `label` [batch], `scores` [batch, labels] and
    `classes` [batch, labels], the labels that the scores belong to.
    """

    kind = "classification"

    def read(self, text: tf.Tensor) -> tuple[Tensors, Tensors]:
        """The words' ids and features."""
        return self.padded(self.encoder.of_texts(text)), {}

    def nothing(self, features: Tensors) -> Tensors:
        """Zeros."""
        rows = tf.shape(features["tokens"])[0]
        return {
            "number": tf.zeros([rows], tf.int32),
            "scores": tf.zeros([rows, self.width]),
        }

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Class numbers [batch] and scores [batch, width]."""
        scores = tf.cast(outputs["scores"][0], tf.float32)
        return {
            "number": outputs["prediction"][0],
            "scores": scores[:, : self.width],
        }

    def answer(self, found, beside, number, task=None) -> Tensors:
        """Names and scores of classes."""
        del beside
        classes = self.classes_of(number, task)
        return {
            "label": tf.gather(classes, found["number"], batch_dims=1),
            "scores": found["scores"][:, : classes.shape[1]],
            "classes": classes,
        }


class ServedTagging(ServedLabels):
    """Tagging, decoded in the graph.

    Its signatures return `length` [batch], how many tokens a text has, and
    [batch, time] of each token: `tokens`, itself; `tags`; `starts` and `ends`,
    where it stands in its text, in characters; and `confidence`, its tag's
    probability. Behind the last token are "" and 0; the time is at least 1.
    """

    kind = "tagging"

    def read(self, text: tf.Tensor) -> tuple[Tensors, Tensors]:
        """The words' ids and features, and the words and their places."""
        located = self.encoder.tokenizer.locate(text)
        if self.encoder.max_length:
            stop = self.encoder.max_length
            located = tuple(part[:, :stop] for part in located)
        words, starts, ends = located
        features = self.padded(self.encoder.of_words(words))
        places = {"tokens": words, "starts": starts, "ends": ends}
        length = tf.cast(words.row_lengths(), tf.int32)
        return features, {**self.padded(places), "length": length}

    def nothing(self, features: Tensors) -> Tensors:
        """Zeros."""
        shape = tf.shape(features["tokens"])
        return {
            "number": tf.zeros(shape, tf.int32),
            "confidence": tf.zeros(shape),
        }

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Numbers and confidences of tags, both [batch, time]."""
        return {
            "number": outputs["prediction"][0],
            "confidence": tf.cast(outputs["confidence"][0], tf.float32),
        }

    def answer(self, found, beside, number, task=None) -> Tensors:
        """Tokens, their tags and their places."""
        classes = self.classes_of(number, task)
        length = tf.where(number < 0, 0, beside["length"])
        whole = {
            "tags": tf.gather(classes, found["number"], batch_dims=1),
            "confidence": found["confidence"],
            **{name: beside[name] for name in ("tokens", "starts", "ends")},
        }
        real = tf.sequence_mask(length, tf.shape(whole["tags"])[1])
        cut = {
            name: tf.where(real, part, "" if part.dtype == tf.string else 0)
            for name, part in whole.items()
        }
        return {**cut, "length": length}


class ServedTranslation(Served):
    """Translation, by beam search in the graph.

    Its signatures return `translation` and `score` [batch], the best one's,
    and `translations` and `scores` [batch, n_best], the best first. Where the
    search found fewer, "" and minus infinity stand for the others.
    """

    kind = "translation"

    def read(self, text: tf.Tensor) -> tuple[Tensors, Tensors]:
        """The sources' ids, and the words that may replace unknown ones."""
        written = self.encoder.source.tokenizer(text)
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
    def _decoding(self) -> Decoding:
        return self.models[self.tasks[0]].decoding

    @property
    def _replaces(self) -> bool:
        return self._decoding.replace_unknown


SERVED = {
    kind.kind: kind
    for kind in (ServedClassification, ServedTagging, ServedTranslation)
}


def functions(
    encoder: TextEncoder | TranslationText,
    models: Sequence[Any],
    tasks: Sequence[Mapping[str, Any]],
) -> dict[str, Callable[..., Tensors]]:
    """The functions of all signatures of a run, by signature.

    They are one for each task, by the task's name, and `serving_default`,
    whose rows name their tasks, where all tasks are of one kind.

    Args:
        encoder, models, tasks: see `Served`.
    """
    served = {
        kind: SERVED[kind](encoder, models, tasks)
        for kind in dict.fromkeys(task["kind"] for task in tasks)
    }
    found = {
        task["name"]: served[task["kind"]].for_task(number)
        for number, task in enumerate(tasks)
    }
    if len(served) == 1:
        (only,) = served.values()
        found[DEFAULT] = only.for_all()
    return found
