"""The served functions of a run: raw strings in, answers out, in one graph."""

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.layers import recurrence
from mtl_tf.models.multi_task import MultiTaskModel
from mtl_tf.text.encoder import TextEncoder

Tensors = dict[str, tf.Tensor]


class Served(abc.ABC):
    """The tasks of one kind of a run.

    Args:
        encoder: texts to ids; its tables must be tracked by the export.
        models: the model of each task of the run, in the order of the tasks'
            numbers: one for all, or fine-tuned copies.
        tasks: "name", "kind" and "labels" of all of the run's tasks.
    """

    kind = ""

    def __init__(
        self,
        encoder: TextEncoder,
        models: Sequence[MultiTaskModel],
        tasks: Sequence[Mapping[str, Any]],
    ):
        self.encoder = encoder
        self.models = list(models)
        self.tasks = [i for i, t in enumerate(tasks) if t["kind"] == self.kind]
        self.names = [tasks[task]["name"] for task in self.tasks]
        labels = {task: tasks[task]["labels"] for task in self.tasks}
        self.counts = {task: len(part) for task, part in labels.items()}
        self.width = max(self.counts.values())
        table = np.full((len(tasks), self.width), "", object)
        for task, part in labels.items():
            table[task, : len(part)] = part
        self.classes = tf.constant(table.tolist(), tf.string)
        # Traced once, whatever the number of signatures that call them.
        self._read = tf.function(
            self.read, input_signature=[tf.TensorSpec([None], tf.string)]
        )
        self._forward = {
            id(models[task]): tf.function(
                functools.partial(self._run, models[task]),
                input_signature=[tf.TensorSpec([], tf.int32), self._specs()],
            )
            for task in self.tasks
        }

    @abc.abstractmethod
    def read(self, text: tf.Tensor) -> tuple[Tensors, Tensors]:
        """What the model reads of texts [batch], and what else answers need.

        Returns:
            Both by name, [batch, time, ...] or [batch, ...].
        """

    @abc.abstractmethod
    def nothing(self, features: Tensors) -> Tensors:
        """The outputs of rows that no task answers."""

    @abc.abstractmethod
    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """The outputs [batch, ...] that answers need, of a model's own."""

    @abc.abstractmethod
    def answer(
        self,
        found: Tensors,
        beside: Tensors,
        classes: tf.Tensor,
        known: tf.Tensor,
    ) -> Tensors:
        """The outputs of a signature.

        Args:
            found: what `outputs` returned.
            beside: the second thing that `read` returned.
            classes: string [batch, labels], the labels of each row's task.
            known: bool [batch], whether a row's task is known.
        """

    def for_task(self, task: int) -> Callable[[tf.Tensor], Tensors]:
        """The function of one task's signature: `text` [batch] to outputs."""

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def serve(text: tf.Tensor) -> Tensors:
            features, beside = self._read(text)
            forward = self._forward[id(self.models[task])]
            found = forward(tf.constant(task), features)
            rows = tf.shape(text)[0]
            own = self.classes[task, : self.counts[task]]
            classes = tf.repeat(own[None], rows, axis=0)
            return self.answer(found, beside, classes, tf.fill([rows], True))

        return serve

    def for_all(self) -> Callable[[tf.Tensor, tf.Tensor], Tensors]:
        """The function of `serving_default`: `text` and `task` [batch].

        A row with an unknown task gets empty strings and zeros.
        """

        @tf.function(
            input_signature=[
                tf.TensorSpec([None], tf.string, "text"),
                tf.TensorSpec([None], tf.string, "task"),
            ]
        )
        def serve(text: tf.Tensor, task: tf.Tensor) -> Tensors:
            same = tf.equal(task[:, None], tf.constant(self.names)[None])
            known = tf.reduce_any(same, 1)
            place = tf.argmax(same, 1, output_type=tf.int32)
            number = tf.where(known, tf.gather(self.tasks, place), -1)
            features, beside = self._read(text)
            found = self._run_mixed(features, number)
            empty = tf.fill([1, self.width], "")
            classes = tf.gather(tf.concat([empty, self.classes], 0), number + 1)
            return self.answer(found, beside, classes, known)

        return serve

    def padded(self, found: Mapping[str, tf.RaggedTensor]) -> Tensors:
        """Ragged features [batch, None, ...] as tensors of one time."""
        tokens = found["tokens"]
        # A recurrence over no step at all fails where no text has a word.
        longest = tf.maximum(tokens.bounding_shape(out_type=tf.int32)[1], 1)
        rows = tf.cast(tokens.nrows(), tf.int32)

        def dense(part: tf.RaggedTensor) -> tf.Tensor:
            inner = part.flat_values.shape[1:]
            shape = tf.stack([rows, longest, *inner])
            return tf.ensure_shape(
                part.to_tensor(shape=shape), (None, *part.shape[1:])
            )

        return {name: dense(part) for name, part in found.items()}

    def _specs(self) -> dict[str, tf.TensorSpec]:
        """The shapes of what the model reads."""
        specs = {"tokens": tf.TensorSpec([None, None], tf.int32)}
        if self.encoder.characters:
            shape = [None, None, self.encoder.characters.max_word_length]
            specs["characters"] = tf.TensorSpec(shape, tf.int32)
        if self.encoder.casing:
            specs["casing"] = tf.TensorSpec([None, None], tf.int32)
        return specs

    def _run(
        self, model: MultiTaskModel, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """A task's outputs for rows of its own."""
        rows = tf.shape(features["tokens"])[0]
        batch = {
            name: _at_least_one_row(part)[None]
            for name, part in features.items()
        }
        # Servers run without XLA: nothing compiled may stay in the graph.
        with recurrence.options(jit=False):
            outputs = model(
                {"task": task[None], **batch},
                training=False,
                key=model.key_of(self.tasks[0]),
            )
        found = self.outputs(outputs)
        return {name: part[:rows] for name, part in found.items()}

    def _run_mixed(self, features: Tensors, number: tf.Tensor) -> Tensors:
        """Runs each task on its own rows; rows of task -1 get nothing."""
        found = self.nothing(features)
        for forward, tasks in self._tasks_by_model():
            for task in tf.constant(tasks):
                mine = tf.where(tf.equal(number, task))
                if tf.size(mine) > 0:
                    part = forward(task, _rows(features, mine))
                    found = _updated(found, mine, part)
        return found

    def _tasks_by_model(self) -> list[tuple[Callable, list[int]]]:
        groups: dict[int, list[int]] = {}
        for task in self.tasks:
            groups.setdefault(id(self.models[task]), []).append(task)
        return [(self._forward[key], tasks) for key, tasks in groups.items()]


def _at_least_one_row(part: tf.Tensor) -> tf.Tensor:
    """Pads a batch of no texts, which convolutions by oneDNN get wrong."""
    missing = tf.cast(tf.equal(tf.shape(part)[0], 0), tf.int32)
    others = [[0, 0]] * (part.shape.rank - 1)
    return tf.pad(part, [[0, missing], *others])


def _rows(features: Tensors, rows: tf.Tensor) -> Tensors:
    return {name: tf.gather_nd(part, rows) for name, part in features.items()}


def _updated(found: Tensors, rows: tf.Tensor, part: Tensors) -> Tensors:
    return {
        name: tf.tensor_scatter_nd_update(old, rows, part[name])
        for name, old in found.items()
    }
