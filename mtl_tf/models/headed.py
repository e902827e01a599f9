"""A model with one head per task type."""

from collections.abc import Mapping, Sequence

import keras

from mtl_tf.core import task_types as type_names
from mtl_tf.core.names import look_up
from mtl_tf.models import task_types
from mtl_tf.models.head_type import HeadType
from mtl_tf.models.protocol import TaskModel


class HeadedModel(TaskModel):
    """Base of models for tasks of several types, with one head per type."""

    def set_heads(
        self,
        heads: Mapping[str, keras.layers.Layer],
        types: Sequence[str] = (),
        head_types: Mapping[str, HeadType] | None = None,
    ) -> None:
        """Sets the heads; called once, while the model is constructed.

        Args:
            heads: heads by task type.
            types: the type of each task. Needed if there are several types.
            head_types: what each head reads, by task type. The default is the
                task type itself, not adapted to the tasks.
        """
        self._types, self._types_of_tasks = tuple(heads), tuple(types)
        known = head_types or {name: task_types.of(name) for name in heads}
        # A tuple, because Keras would track a dictionary.
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
        """The type of a task; None if all tasks have the same type."""
        return self._types_of_tasks[task] if len(self._types) > 1 else None

    def head_type(self, name: str) -> HeadType:
        """What the head of a task type reads."""
        return self._head_types[self._types.index(name)]

    def type_of(self, key: str | None) -> str:
        """The task type of batches with a given key.

        Raises:
            ValueError: no key is given, and there are several types.
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
    """The attribute name of a task type's head, also used in checkpoints."""
    return f"{type_names.title(task_type)}_head"
