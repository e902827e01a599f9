"""Transformers with task-specific states at every layer: L-I and L-E."""

import keras

from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import choose
from mtl_tf.models.schemes.transformer import TransformerScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class LayerwiseImplicitScheme(TransformerScheme):
    """L-I: each text gets a row of its task, whose final state is read.

    Sun (2019), section 3.2.3: a task has its own representation at every layer,
    and the tasks share only the weights of the layers. Tasks with the same
    number of labels may also share a head (`config.model.head.sharing`).

    The task embedding is private, one slice per task. A sequence consists of
    the words' states, which the task's row influences at every layer. Using it
    for tagging is our addition.

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
    """L-E: every text gets one CLS row per task; a task reads its own row.

    Sun (2019), section 3.2.4: all tasks read a text at once. At every layer a
    task's row may attend to the other tasks' rows.

    Every text has all rows, whatever its task. Each step therefore trains all
    rows, so they are shared weights, not private ones. Tagging with the words'
    states is our addition.

    Args and outputs: see `TransformerScheme`; R is `tasks`.

    Example:
        ```python
        scheme = LayerwiseExplicitScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    @property
    def rows(self) -> int:
        """One row per task."""
        return self.tasks

    def build_rows(self, size: int) -> None:
        """Makes the CLS rows, `[tasks, D]`."""
        self.cls = self.add("cls", self.tasks, size)
        # Not private, but a run that starts from another one copies them by
        # task name.
        mark(self.cls, has_rows_of_tasks=True)

    def make_rows(self, task):
        """See `TransformerScheme`."""
        return self.cls.value[None]

    def place(self, task):
        """See `TransformerScheme`."""
        return task
