"""What a task type tells a model with a sharing scheme."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core.errors import ConfigError

Task = Mapping[str, Any]


class HeadType(abc.ABC):
    """The head of a task type, and what it reads.

    Attributes:
        fields: fields of the config's `model` that only this type reads.
        texts: what stands before the names of the columns of each text that
            is encoded: "" for "tokens", "text_pair_" for "text_pair_tokens".
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

        Every head has a slice for every task, so that a task has one number
        throughout a model.

        Args:
            tasks: of each task of the model "labels" and what its type knows;
                None for a task of another type, whose slice is not used.
            config: the model's, complete: "head" and what the type has there.
            **options: "name", "init" and "dtype" of the layer.

        Returns:
            A layer with an attribute `reads`: "summary", or "sequence" of the
            scheme. `layer(encoded, batch)` returns "prediction" and what else
            the type knows, and with targets "loss" float32 [G, B].

        Raises:
            ConfigError: a field is wrong, or does not go with such tasks.
        """

    def of_tasks(self, tasks: Sequence[Task]) -> "HeadType":
        """This type as tasks of one model have it; itself by default.

        Args:
            tasks: those of the type.

        Raises:
            ConfigError: they do not agree on what a model has once.
        """
        del tasks
        return self

    def units(self, units: int) -> int:
        """The size of what the head reads.

        Args:
            units: of the encoding of a text.
        """
        return units

    def combined(self, read: Sequence[tf.Tensor]) -> tf.Tensor:
        """What the head reads, of what stands for each of `texts`."""
        return read[0]


def check_private(config: Mapping[str, Any], tasks: str) -> None:
    """Refuses one head for all tasks.

    Args:
        config: the model's, with a complete "head".
        tasks: what the tasks are, for the message.

    Raises:
        ConfigError: `head.sharing` is another one.
    """
    sharing = config["head"]["sharing"]
    if sharing != "private":
        raise ConfigError(
            f"model.head.sharing must be 'private' where there are {tasks}, "
            f"got {sharing!r}"
        )


def label_counts(tasks: Sequence[Task | None]) -> list[int]:
    """How many labels each task has; 1 for a task of another type."""
    return [1 if task is None else len(task["labels"]) for task in tasks]
