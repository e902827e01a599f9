"""Transformers whose tasks part at every layer: L-I and L-E."""

import keras

from mtl_tf.layers.base import choose
from mtl_tf.models.transformer import TransformerScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class LayerwiseImplicitScheme(TransformerScheme):
    """L-I: the row in front is the task's own; its final state is read.

    Sun (2019), section 3.2.3: a task has a representation of its own at every
    layer, and the tasks meet only in the weights of the layers. Where they
    have the same number of labels they may share a head, too
    (`config.model.head.sharing`).

    The task embedding is private, one slice a task. A sequence consists of
    the words' states, which the task's row reaches at every layer: tagging
    with it is our addition.

    Args and outputs: see `TransformerScheme`; there is one row.

    Example:
        ```python
        scheme = LayerwiseImplicitScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    rows = 1

    def build_rows(self, size: int) -> None:
        """Makes the task embedding, `[tasks, 1, D]`."""
        self.task_embedding = self.add(
            "task_embedding", 1, size, stack=(self.tasks,)
        )

    def make_rows(self, task):
        """See `TransformerScheme`."""
        return choose(self.task_embedding, task)


@keras.saving.register_keras_serializable(package="mtl_tf")
class LayerwiseExplicitScheme(TransformerScheme):
    """L-E: a CLS row for every task in front; a task reads its own.

    Sun (2019), section 3.2.4: a text is seen by all tasks at once, and at
    every layer a task's row may attend to what the other tasks' rows made of
    it.

    All rows stand in front of every text, whatever its task: each step trains
    all of them, so that they are shared weights, not private ones. Tagging
    with the words' states is our addition.

    Args and outputs: see `TransformerScheme`; R is `tasks`.

    Example:
        ```python
        scheme = LayerwiseExplicitScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    @property
    def rows(self) -> int:
        """One for each task."""
        return self.tasks

    def build_rows(self, size: int) -> None:
        """Makes the CLS rows, `[tasks, D]`."""
        self.cls = self.add("cls", self.tasks, size)
        # Not private, but a run that starts from another takes them by name.
        self.cls.rows_of_tasks = True

    def make_rows(self, task):
        """See `TransformerScheme`."""
        return self.cls.value[None]

    def place(self, task):
        """See `TransformerScheme`."""
        return task
