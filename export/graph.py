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
from mtl_tf.text.translation import TranslationText

Tensors = dict[str, tf.Tensor]


class Served(abc.ABC):
    """The tasks of one kind of a run.

    Args:
        encoder: texts to ids; its tables must be tracked by the export.
        models: what answers each task of the run, in the order of the tasks'
            numbers: one model for all, or fine-tuned copies; of translation
            tasks `mtl_tf.runs.translating.Translator`s of them.
        tasks: "name", "kind" and "labels" of all of the run's tasks.
    """

    kind = ""

    def __init__(
        self,
        encoder: TextEncoder | TranslationText,
        models: Sequence[Any],
        tasks: Sequence[Mapping[str, Any]],
    ):
        self.encoder = encoder
        self.models = list(models)
        self.tasks = [i for i, t in enumerate(tasks) if t["kind"] == self.kind]
        self.names = [tasks[task]["name"] for task in self.tasks]
        # Traced once, whatever the number of signatures that call them.
        self._read = tf.function(
            self.read, input_signature=[tf.TensorSpec([None], tf.string)]
        )
        self._forward: dict[tuple, Callable] = {}
        for task in self.tasks:
            model, key = self.models[task], self.key_of(task)
            self._forward[id(model), key] = tf.function(
                functools.partial(self.run, model, key),
                input_signature=[tf.TensorSpec([], tf.int32), self.specs()],
            )

    @abc.abstractmethod
    def read(self, text: tf.Tensor) -> tuple[Tensors, Tensors]:
        """What the model reads of texts [batch], and what else answers need.

        Returns:
            Both by name, [batch, time, ...] or [batch, ...].
        """

    @abc.abstractmethod
    def specs(self) -> dict[str, tf.TensorSpec]:
        """The shapes of what the model reads."""

    @abc.abstractmethod
    def run(
        self, model: Any, key: Any, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """What a model says of texts of a task.

        Args:
            model: one of `models`.
            key: what `key_of` returned.
            task: int32 [], the task's number.
            features: the first thing that `read` returned.

        Returns:
            By name, [batch, ...].
        """

    @abc.abstractmethod
    def nothing(self, features: Tensors) -> Tensors:
        """The same of rows that no task answers."""

    @abc.abstractmethod
    def answer(
        self,
        found: Tensors,
        beside: Tensors,
        number: tf.Tensor,
        task: int | None = None,
    ) -> Tensors:
        """The outputs of a signature.

        Args:
            found: what `run` returned.
            beside: the second thing that `read` returned.
            number: int32 [batch], the task of each row; -1 if unknown.
            task: the number of all rows' task, where the signature is one's.
        """

    def key_of(self, task: int) -> Any:
        """What a model has a trace for: tasks of equal keys share one."""
        return self.models[task].key_of(task)

    def for_task(self, task: int) -> Callable[[tf.Tensor], Tensors]:
        """The function of one task's signature: `text` [batch] to outputs."""

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def serve(text: tf.Tensor) -> Tensors:
            features, beside = self._read(text)
            forward = self._forward[self._trace(task)]
            found = forward(tf.constant(task), features)
            number = tf.fill(tf.shape(text), task)
            return self.answer(found, beside, number, task)

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
            return self.answer(found, beside, number)

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

    def _run_mixed(self, features: Tensors, number: tf.Tensor) -> Tensors:
        """Runs each task on its own rows; rows of task -1 get nothing."""
        found = self.nothing(features)
        for forward, tasks in self._tasks_by_trace():
            for task in tf.constant(tasks):
                mine = tf.where(tf.equal(number, task))
                if tf.size(mine) > 0:
                    part = forward(task, rows_of(features, mine))
                    found = updated(found, mine, part)
        return found

    def _tasks_by_trace(self) -> list[tuple[Callable, list[int]]]:
        groups: dict[tuple, list[int]] = {}
        for task in self.tasks:
            groups.setdefault(self._trace(task), []).append(task)
        return [(self._forward[key], tasks) for key, tasks in groups.items()]

    def _trace(self, task: int) -> tuple:
        return id(self.models[task]), self.key_of(task)


class ServedLabels(Served):
    """Tasks whose answers are labels of theirs."""

    def __init__(self, encoder, models, tasks):
        super().__init__(encoder, models, tasks)
        labels = {task: tasks[task]["labels"] for task in self.tasks}
        self.counts = {task: len(part) for task, part in labels.items()}
        self.width = max(self.counts.values())
        table = np.full((len(tasks), self.width), "", object)
        for task, part in labels.items():
            table[task, : len(part)] = part
        self.classes = tf.constant(table.tolist(), tf.string)

    @abc.abstractmethod
    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """The outputs [batch, ...] that answers need, of a model's own."""

    def classes_of(
        self, number: tf.Tensor, task: int | None = None
    ) -> tf.Tensor:
        """The labels of each row's task, string [batch, labels].

        Args:
            number, task: see `answer`.
        """
        if task is not None:
            own = self.classes[task, : self.counts[task]]
            return tf.repeat(own[None], tf.size(number), axis=0)
        empty = tf.fill([1, self.width], "")
        return tf.gather(tf.concat([empty, self.classes], 0), number + 1)

    def specs(self) -> dict[str, tf.TensorSpec]:
        """Words, and what else the encoder gives of them."""
        specs = {"tokens": tf.TensorSpec([None, None], tf.int32)}
        if self.encoder.characters:
            shape = [None, None, self.encoder.characters.max_word_length]
            specs["characters"] = tf.TensorSpec(shape, tf.int32)
        if self.encoder.casing:
            specs["casing"] = tf.TensorSpec([None, None], tf.int32)
        return specs

    def run(
        self,
        model: MultiTaskModel,
        key: Any,
        task: tf.Tensor,
        features: Tensors,
    ) -> Tensors:
        """A forward pass."""
        rows = tf.shape(features["tokens"])[0]
        batch = {
            name: _at_least_one_row(part)[None]
            for name, part in features.items()
        }
        # Servers run without XLA: nothing compiled may stay in the graph.
        with recurrence.options(jit=False):
            outputs = model(
                {"task": task[None], **batch}, training=False, key=key
            )
        found = self.outputs(outputs)
        return {name: part[:rows] for name, part in found.items()}


def _at_least_one_row(part: tf.Tensor) -> tf.Tensor:
    """Pads a batch of no texts, which convolutions by oneDNN get wrong."""
    missing = tf.cast(tf.equal(tf.shape(part)[0], 0), tf.int32)
    others = [[0, 0]] * (part.shape.rank - 1)
    return tf.pad(part, [[0, missing], *others])


def rows_of(features: Tensors, rows: tf.Tensor) -> Tensors:
    """Some rows [n, 1] of features."""
    return {name: tf.gather_nd(part, rows) for name, part in features.items()}


def updated(found: Tensors, rows: tf.Tensor, part: Tensors) -> Tensors:
    """What was found, with `part` in place of the rows [n, 1]."""
    return {
        name: tf.tensor_scatter_nd_update(old, rows, part[name])
        for name, old in found.items()
    }
