"""A model with a head for each type of its tasks."""

from collections.abc import Mapping, Sequence

import keras

from mtl_tf.core import task_types as type_names
from mtl_tf.core.names import look_up
from mtl_tf.models import task_types
from mtl_tf.models.head_type import HeadType
from mtl_tf.models.protocol import TaskModel


class HeadedModel(TaskModel):
    """A model of tasks of several types: a head for each."""

    def set_heads(
        self,
        heads: Mapping[str, keras.layers.Layer],
        types: Sequence[str] = (),
        head_types: Mapping[str, HeadType] | None = None,
    ) -> None:
        """Takes the heads; to be called once, while the model is made.

        Args:
            heads: by task type.
            types: the type of each task; needed where there are several.
            head_types: by task type, what its tasks' head reads; by default
                as the type has it for any tasks.
        """
        self._types, self._types_of_tasks = tuple(heads), tuple(types)
        known = head_types or {name: task_types.of(name) for name in heads}
        # A tuple: Keras would track a dictionary.
        self._head_types = tuple(known[name] for name in heads)
        # Attributes, not a dictionary: tf.train.Checkpoint does not look into
        # the lists and dictionaries of Keras layers.
        for name, head in heads.items():
            setattr(self, _attribute(name), head)

    @property
    def heads(self) -> dict[str, keras.layers.Layer]:
        """The heads by task type."""
        return {name: getattr(self, _attribute(name)) for name in self._types}

    def key_of(self, task: int) -> str | None:
        """The type of a task; None where all tasks are of one."""
        return self._types_of_tasks[task] if len(self._types) > 1 else None

    def head_type(self, name: str) -> HeadType:
        """What the head of a task type reads."""
        return self._head_types[self._types.index(name)]

    def type_of(self, key: str | None) -> str:
        """The task type of batches with a key.

        Raises:
            ValueError: none is given, and there are several.
            ConfigError: no task has the type.
        """
        if key is None and len(self._types) == 1:
            return self._types[0]
        if key is None:
            raise ValueError(
                "a model of several task types needs the batch's: one of "
                f"{', '.join(self._types)}"
            )
        look_up(key, self.heads, "task type")
        return key


def _attribute(task_type: str) -> str:
    """What the head of a task type is called, also in checkpoints."""
    return f"{type_names.title(task_type)}_head"
