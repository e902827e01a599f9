"""Tagging: the tokens of a text and their tags."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ..serving import Tensors
from ..serving_sharing import Labels, ServedSharing


class ServedTagging(ServedSharing):
    """Tagging, decoded in the graph.

    Its signatures return `length` [batch], the number of tokens, and for each
    token, [batch, time]: `tokens`, its text; `tags`; `starts` and `ends`, its
    position in the text, in characters; and `confidence`, its tag's
    probability. After the last token come "" and 0. The time is at least 1.
    """

    def __init__(self, run, models, tasks, **options):
        super().__init__(run, models, tasks, **options)
        self._labels = Labels(self.described, self.tasks)

    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The words' ids and features, and the words with their positions."""
        located = self.encoder.tokenizer.locate(inputs["text"])
        if self.encoder.max_length:
            stop = self.encoder.max_length
            located = tuple(part[:, :stop] for part in located)
        words, starts, ends = located
        columns = self.encoder.of_words(words)
        features: Tensors = {}
        if "words" in columns:
            # The pieces of a pretrained encoder have their own time axis.
            features = self.padded({"words": columns.pop("words")}, "words")
        features |= self.padded(columns)
        places = {"tokens": words, "starts": starts, "ends": ends}
        length = tf.cast(words.row_lengths(), tf.int32)
        return features, {**self.padded(places), "length": length}

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Zeros."""
        shape = tf.shape(features.get("words", features["tokens"]))
        return {
            "number": tf.zeros(shape, tf.int32),
            "confidence": tf.zeros(shape),
        }

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Ids and confidences of tags, both [batch, time]."""
        return {
            "number": outputs["prediction"][0],
            "confidence": tf.cast(outputs["confidence"][0], tf.float32),
        }

    def answer(self, results, beside, number, task=None) -> Tensors:
        """Tokens, their tags and their positions."""
        classes = self._labels.of_rows(number, task)
        length = tf.where(number < 0, 0, beside["length"])
        columns = {
            "tags": tf.gather(classes, results["number"], batch_dims=1),
            "confidence": results["confidence"],
            **{name: beside[name] for name in ("tokens", "starts", "ends")},
        }
        real = tf.sequence_mask(length, tf.shape(columns["tags"])[1])
        cut = {
            name: tf.where(real, column, "" if column.dtype == tf.string else 0)
            for name, column in columns.items()
        }
        return {**cut, "length": length}

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`tokens`, `tags`, `offsets` and `confidence`."""
        cut = {
            name: values[: outputs["length"]]
            for name, values in outputs.items()
            if name != "length"
        }
        return {
            "tokens": cut["tokens"],
            "tags": cut["tags"],
            "offsets": [list(pair) for pair in zip(cut["starts"], cut["ends"])],
            "confidence": cut["confidence"],
        }


TYPE = ServedTagging
