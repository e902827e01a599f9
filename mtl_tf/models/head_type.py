"""The interface between a task type and a model with a sharing scheme."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core.errors import ConfigError

Task = Mapping[str, Any]


class HeadType(abc.ABC):
    """Describes the head of a task type and what the head reads.

    Attributes:
        fields: fields of the config's `model` that only this type uses.
        texts: for each encoded text, the prefix of its column names: "" for
            "tokens", "text_pair_" for "text_pair_tokens".
    """

    fields: tuple[str, ...] = ()
    texts: tuple[str, ...] = ("",)

    @abc.abstractmethod
    def make(
        self,
        tasks: Sequence[Task | None],
        config: Mapping[str, Any],
        **options: Any,
    ) -> keras.layers.Layer:
        """Makes the head.

        Every head has a slice for every task of the model, so that a task has
        the same number throughout the model.

        Args:
            tasks: for each task of the model, "labels" and the fields of its
                type. None stands for a task of another type, whose slice is not
                used.
            config: the complete config of the model: "head" and the type's
                fields.
            **options: "name", "init" and "dtype" of the layer.

        Returns:
            A layer with an attribute `reads`: "summary", or "sequence" of the
            scheme. `layer(encoded, batch)` returns "prediction" and other
            outputs of the type, and with targets "loss" float32 [G, B].

        Raises:
            ConfigError: a field is wrong, or does not fit the tasks.
        """

    def of_tasks(self, tasks: Sequence[Task]) -> "HeadType":
        """This type adapted to the tasks of one model; itself by default.

        Args:
            tasks: the model's tasks of this type.

        Raises:
            ConfigError: the tasks disagree on something that a model has only
                once.
        """
        del tasks
        return self

    def units(self, units: int) -> int:
        """The size of the head's input.

        Args:
            units: size of the encoding of a text.
        """
        return units

    def combined(self, read: Sequence[tf.Tensor]) -> tf.Tensor:
        """The head's input, from the encoding of each of `texts`."""
        return read[0]


def check_private(config: Mapping[str, Any], tasks: str) -> None:
    """Refuses a head that all tasks share.

    Args:
        config: the model's config, with a complete "head".
        tasks: the kind of tasks, for the message.

    Raises:
        ConfigError: `head.sharing` is not "private".
    """
    sharing = config["head"]["sharing"]
    if sharing != "private":
        raise ConfigError(
            f"model.head.sharing must be 'private' where there are {tasks}, "
            f"got {sharing!r}"
        )


def label_counts(tasks: Sequence[Task | None]) -> list[int]:
    """The number of labels of each task; 1 for tasks of other types."""
    return [1 if task is None else len(task["labels"]) for task in tasks]
