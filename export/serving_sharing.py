"""Serves tasks whose models have a sharing scheme."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.multi_task import MultiTaskModel
from mtl_tf.pipelines.examples.piece_examples import examples_of
from mtl_tf.tasks import task_types
from mtl_tf.tasks.features import inputs

from .serving import Served, Tensors


class ServedSharing(Served):
    """Tasks of models with a sharing scheme."""

    def __init__(self, run, models, tasks, **options):
        described = run.tasks[tasks[0]]
        task_type = task_types.of(described["type"])
        features = inputs(task_type.features(described["labels"], described))
        self.examples = examples_of(run.encoder, features)
        super().__init__(run, models, tasks, **options)

    @abc.abstractmethod
    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """The outputs [batch, ...] of a model that answers need."""

    def specs(self) -> dict[str, tf.TensorSpec]:
        """The columns of the task type's input features."""
        specs = {}
        for name in self.examples.axes:
            shape = [None, None]
            if name.endswith("characters"):
                shape.append(self.encoder.characters.max_word_length)
            specs[name] = tf.TensorSpec(shape, tf.int32)
        return specs

    @tf.autograph.experimental.do_not_convert
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
            name: _at_least_one_row(column)[None]
            for name, column in features.items()
        }
        # Servers run without XLA, so the graph must not contain compiled parts.
        with recurrence.options(jit=False):
            outputs = model(
                {"task": task[None], **batch}, training=False, key=key
            )
        results = self.outputs(outputs)
        return {name: column[:rows] for name, column in results.items()}


class ServedTexts(ServedSharing):
    """Tasks on whole texts; the inputs are the text features of their type."""

    def __init__(self, run, models, tasks, **options):
        described = run.tasks[tasks[0]]
        features = task_types.of(described["type"]).features(
            described["labels"], described
        )
        self.inputs = tuple(feature.name for feature in inputs(features))
        super().__init__(run, models, tasks, **options)

    @tf.autograph.experimental.do_not_convert
    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """The texts' ids and features, each time axis padded separately."""
        columns = self.examples(inputs)
        features: Tensors = {}
        for axis in dict.fromkeys(self.examples.axes.values()):
            columns_of_axis = {
                name: tf.cast(column, tf.int32)
                for name, column in columns.items()
                if self.examples.axes[name] == axis
            }
            features |= self.padded(
                columns_of_axis, next(iter(columns_of_axis))
            )
        return features, {}


class Labels:
    """The labels of tasks, as tensors.

    Args:
        described: all tasks of the run.
        tasks: the numbers of those with labels.

    Attributes:
        counts: the number of labels of each task, by the task's number.
        width: the largest of them.
    """

    def __init__(
        self, described: Sequence[Mapping[str, Any]], tasks: Sequence[int]
    ):
        labels = {task: described[task]["labels"] for task in tasks}
        self.counts = {task: len(part) for task, part in labels.items()}
        self.width = max(self.counts.values())
        table = np.full((len(described), self.width), "", object)
        for task, part in labels.items():
            table[task, : len(part)] = part
        self._classes = tf.constant(table.tolist(), tf.string)

    def of_rows(self, number: tf.Tensor, task: int | None = None) -> tf.Tensor:
        """The labels of each row's task, string [batch, labels].

        Args:
            number, task: see `Served.answer`.
        """
        if task is not None:
            classes = self._classes[task, : self.counts[task]]
            return tf.repeat(classes[None], tf.size(number), axis=0)
        empty = tf.fill([1, self.width], "")
        return tf.gather(tf.concat([empty, self._classes], 0), number + 1)


class ScoreAnswers(abc.ABC):
    """Turns the probabilities of labels into the outputs of a signature.

    Args:
        described: all tasks of the run, with what was fitted for them.
        tasks: the numbers of the served ones.
    """

    def __init__(
        self, described: Sequence[Mapping[str, Any]], tasks: Sequence[int]
    ):
        self.labels = Labels(described, tasks)

    @abc.abstractmethod
    def __call__(
        self,
        scores: tf.Tensor,
        number: tf.Tensor,
        task: int | None = None,
        predicted: tf.Tensor | None = None,
    ) -> Tensors:
        """The outputs.

        Args:
            scores: the model's probabilities, float32 [batch, width].
            number, task: see `Served.answer`.
            predicted: the model's label ids, int32 [batch], if each row has one
                label; None for those of the largest probabilities.
        """


def _at_least_one_row(column: tf.Tensor) -> tf.Tensor:
    """Pads an empty batch, for which oneDNN's convolutions are wrong."""
    missing = tf.cast(tf.equal(tf.shape(column)[0], 0), tf.int32)
    unpadded = [[0, 0]] * (column.shape.rank - 1)
    return tf.pad(column, [[0, missing], *unpadded])
