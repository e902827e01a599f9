"""What is served of each kind of task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.models.multi_task import MultiTaskModel
from mtl_tf.text.encoder import TextEncoder

from .graph import Served, Tensors

DEFAULT = "serving_default"


class ServedClassification(Served):
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

    def answer(self, found, beside, classes, known) -> Tensors:
        """Names and scores of classes."""
        del beside, known
        return {
            "label": tf.gather(classes, found["number"], batch_dims=1),
            "scores": found["scores"][:, : classes.shape[1]],
            "classes": classes,
        }


class ServedTagging(Served):
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

    def answer(self, found, beside, classes, known) -> Tensors:
        """Tokens, their tags and their places."""
        length = tf.where(known, beside["length"], 0)
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


SERVED = {kind.kind: kind for kind in (ServedClassification, ServedTagging)}


def functions(
    encoder: TextEncoder,
    models: Sequence[MultiTaskModel],
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
