"""The served functions of a run: raw strings in, labels and scores out."""

import functools
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.layers import recurrence
from mtl_tf.models.multi_task import MultiTaskModel
from mtl_tf.text.encoder import TextEncoder

Outputs = dict[str, tf.Tensor]


class ServedClassifier:
    """Classification of raw strings for every task of a run, in one graph.

    Args:
        encoder: texts to ids; its tables must be tracked by the export.
        models: the model of each task: one for all, or fine-tuned copies.
        names: the tasks' names, in the order of their numbers.
        labels: the label names of each task.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        models: Sequence[MultiTaskModel],
        names: Sequence[str],
        labels: Sequence[Sequence[str]],
    ):
        self.encoder = encoder
        self.models = list(models)
        self.names = list(names)
        self.width = max(len(part) for part in labels)
        self.counts = [len(part) for part in labels]
        table = np.full((len(names), self.width), "", object)
        for row, part in enumerate(labels):
            table[row, : len(part)] = part
        self.classes = tf.constant(table.tolist(), tf.string)
        # Traced once, whatever the number of signatures that call them.
        self._tokens = tf.function(
            self._encode, input_signature=[tf.TensorSpec([None], tf.string)]
        )
        self._forward = {
            id(model): tf.function(
                functools.partial(self._score, model),
                input_signature=[
                    tf.TensorSpec([], tf.int32),
                    tf.TensorSpec([None, None], tf.int32),
                ],
            )
            for model in self.models
        }

    def for_task(self, task: int) -> Callable[[tf.Tensor], Outputs]:
        """The function of one task's signature: `text` [batch] to outputs."""

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def serve(text: tf.Tensor) -> Outputs:
            forward = self._forward[id(self.models[task])]
            number, scores = forward(tf.constant(task), self._tokens(text))
            count = self.counts[task]
            classes = self.classes[task, :count]
            return {
                "label": tf.gather(classes, number),
                "scores": scores[:, :count],
                "classes": tf.repeat(classes[None], tf.shape(text)[0], axis=0),
            }

        return serve

    def for_all(self) -> Callable[[tf.Tensor, tf.Tensor], Outputs]:
        """The function of `serving_default`: `text` and `task` [batch].

        A row with an unknown task gets the label "" and the scores 0.
        """

        @tf.function(
            input_signature=[
                tf.TensorSpec([None], tf.string, "text"),
                tf.TensorSpec([None], tf.string, "task"),
            ]
        )
        def serve(text: tf.Tensor, task: tf.Tensor) -> Outputs:
            known = tf.constant(self.names)
            same = tf.equal(task[:, None], known[None])
            task_number = tf.where(
                tf.reduce_any(same, 1),
                tf.argmax(same, 1, output_type=tf.int32),
                -1,
            )
            number, scores = self._run_mixed(self._tokens(text), task_number)
            empty = tf.fill([1, self.width], "")
            classes = tf.gather(
                tf.concat([empty, self.classes], 0), task_number + 1
            )
            return {
                "label": tf.gather(classes, number, batch_dims=1),
                "scores": scores,
                "classes": classes,
            }

        return serve

    def _encode(self, text: tf.Tensor) -> tf.Tensor:
        ids = self.encoder(text)
        # A recurrence over no step at all fails where no text has a word.
        longest = tf.maximum(ids.bounding_shape(out_type=tf.int32)[1], 1)
        return ids.to_tensor(shape=tf.stack([tf.shape(text)[0], longest]))

    def _score(
        self, model: MultiTaskModel, task: tf.Tensor, tokens: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Class numbers int32 [batch] and scores [batch, width] of a task."""
        batch = {"task": task[None], "tokens": tokens[None]}
        # Servers run without XLA: nothing compiled may stay in the graph.
        with recurrence.options(jit=False):
            outputs = model(batch, training=False)
        scores = tf.cast(outputs["scores"][0], tf.float32)
        return outputs["prediction"][0], scores[:, : self.width]

    def _run_mixed(
        self, tokens: tf.Tensor, task_number: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Runs each task on its own rows; rows of task -1 stay 0."""
        rows = tf.shape(tokens)[0]
        number = tf.zeros([rows], tf.int32)
        scores = tf.zeros([rows, self.width])
        for forward, tasks in self._tasks_by_model():
            for task in tf.constant(tasks):
                mine = tf.where(tf.equal(task_number, task))
                if tf.size(mine) > 0:
                    chosen = tf.gather_nd(tokens, mine)
                    part, part_scores = forward(task, chosen)
                    number = tf.tensor_scatter_nd_update(number, mine, part)
                    scores = tf.tensor_scatter_nd_update(
                        scores, mine, part_scores
                    )
        return number, scores

    def _tasks_by_model(self) -> list[tuple[Callable, list[int]]]:
        groups: dict[int, list[int]] = {}
        for task, model in enumerate(self.models):
            groups.setdefault(id(model), []).append(task)
        return [(self._forward[key], tasks) for key, tasks in groups.items()]
