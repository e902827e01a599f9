"""Serves the mean of the probabilities of several runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from .serving import Served, Tensors, known_tasks, rows_of, signature, updated


class Part(NamedTuple):
    """A member of an ensemble, for one task.

    Attributes:
        function: the member's function for the task; see `Served.for_task`.
        order: the places of the ensemble's labels among the member's.
        weight: its weight; those of a task sum to 1.
        served: what the function belongs to.
    """

    function: Callable[..., Tensors]
    order: Sequence[int]
    weight: float
    served: Served


class Averaged:
    """Serves those tasks of an ensemble that have one task type.

    It has the functions of a `Served`.

    Args:
        described: all tasks of the ensemble, with what was fitted for it.
        tasks: the numbers of the served tasks.
        parts: the members of each task, by name.

    Attributes:
        names: the names of the served tasks.
        inputs: names of a signature's inputs, each string [batch].
    """

    def __init__(
        self,
        described: Sequence[Mapping[str, Any]],
        tasks: Sequence[int],
        parts: Mapping[str, Sequence[Part]],
    ):
        self.tasks = list(tasks)
        self.names = [described[task]["name"] for task in tasks]
        self._parts = {
            task: parts[name] for task, name in zip(tasks, self.names)
        }
        first = self._parts[self.tasks[0]][0].served
        self.inputs = first.inputs
        self._answers = first.answers(described, tasks)

    def for_task(self, task: int) -> Callable[..., Tensors]:
        """The function of one task's signature: `inputs` to outputs."""

        def serve(**strings: tf.Tensor) -> Tensors:
            rows = tf.fill([tf.size(strings[self.inputs[0]])], task)
            return self._answers(self._scores(task, strings), rows, task)

        return signature(serve, self.inputs)

    def for_all(self) -> Callable[..., Tensors]:
        """The function of `serving_default`; see `Served.for_all`."""

        def serve(task: tf.Tensor, **strings: tf.Tensor) -> Tensors:
            number = known_tasks(task, self.names, self.tasks)
            shape = [tf.size(task), self._answers.labels.width]
            found = {"scores": tf.zeros(shape)}
            for of_task in self.tasks:
                rows = tf.where(tf.equal(number, of_task))
                if tf.size(rows) > 0:
                    scores = self._scores(of_task, rows_of(strings, rows))
                    missing = shape[1] - scores.shape[1]
                    scores = tf.pad(scores, [[0, 0], [0, missing]])
                    found = updated(found, rows, {"scores": scores})
            return self._answers(found["scores"], number)

        return signature(serve, (*self.inputs, "task"))

    def _scores(self, task: int, strings: Tensors) -> tf.Tensor:
        """The mean probabilities of a task's rows, float32 [batch, labels]."""
        return tf.add_n(
            [
                part.weight
                * tf.gather(
                    part.function(**strings)["scores"], part.order, axis=1
                )
                for part in self._parts[task]
            ]
        )
