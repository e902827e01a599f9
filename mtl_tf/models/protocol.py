"""What training, prediction and export ask of a model."""

from typing import Any

import keras
import tensorflow as tf

#: What a batch's tasks have in common that decides the graph: tasks of equal
#: keys share one trace.
Key = str | int | None


class TaskModel(keras.Model):
    """A model of several tasks: the protocol.

    A model that trains, predicts and exports is a subclass. Batches are those
    of `mtl_tf.pipelines.batches`; what a task's columns are, its task type
    declares.
    """

    @property
    def static_shapes(self) -> bool:
        """Whether batches should have few shapes, for XLA; see `Trainer`."""
        return True

    #: The `key` of batches that have a group for every task although the
    #: tasks' own keys differ; None if there can be no such batches.
    joint_key: Key = None

    def key_of(self, task: int) -> Key:
        """The `key` that `call` needs for batches of a task, by its number.

        None where all tasks share one graph.
        """
        return None

    def call(
        self,
        batch: dict[str, tf.Tensor],
        training: bool = False,
        seed: tf.Tensor | None = None,
        inspect: bool = False,
        key: Key = None,
    ) -> dict[str, Any]:
        """Computes a batch.

        Args:
            batch: G groups of B examples, each group of one task.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for whatever is random.
            inspect: fill "inspect" with what figures show.
            key: what `key_of` returned for the groups' tasks.

        Returns:
            "loss" float32 `[G, B]` of each example, if the batch has targets;
            "losses" by name, what is added to it, one number an example
            `[G, B]` or a scalar; "inspect" by name; maybe "diagnostics" by
            name, float `[G, B]`; and the predictions that the tasks' types
            name (`mtl_tf.runs.task_types`).
        """
        raise NotImplementedError

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that belong to single tasks."""
        raise NotImplementedError

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable word vectors."""
        raise NotImplementedError
