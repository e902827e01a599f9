"""What training, prediction and export ask of a model."""

import json
from collections.abc import Mapping
from typing import Any, Self

import keras
import numpy as np
import tensorflow as tf

#: What a batch's tasks have in common that decides the graph: tasks of equal
#: keys share one trace.
Key = str | int | None


class TaskModel(keras.Model):
    """A model of several tasks: the protocol.

    A model that trains, predicts and exports is a subclass. Batches are those
    of `mtl_tf.pipelines.batches`; what a task's columns are, its task type
    declares.

    `save("x.keras")` and `keras.models.load_model` keep a model whose builder
    said with `remember` what it was built from.
    """

    _arguments = ""

    def remember(self, **arguments: Any) -> None:
        """Keeps the arguments that `build_again` makes such a model from.

        Args:
            **arguments: values for JSON, mappings and arrays; no weights.
        """
        # As text: Keras and checkpoints would track a dictionary.
        self._arguments = json.dumps(arguments, default=_as_json)

    @classmethod
    def build_again(cls, **arguments: Any) -> Self:
        """A model from what `remember` was given, in the types of JSON."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """What `from_config` builds the model from.

        Raises:
            NotImplementedError: it was not made by its builder.
        """
        if not self._arguments:
            raise NotImplementedError(
                f"{type(self).__name__} was put together by hand: only what "
                "its builder made can be saved as a .keras file"
            )
        return {"arguments": json.loads(self._arguments)}

    @classmethod
    def from_config(cls, config: Mapping, custom_objects=None) -> Self:
        """Builds the model with all its weights."""
        del custom_objects
        return cls.build_again(**config["arguments"])

    @property
    def static_shapes(self) -> bool:
        """Whether batches should have few shapes, for XLA; see `Trainer`."""
        return True

    #: The `key` of batches that have a group for every task although the
    #: tasks' own keys differ; None if there can be no such batches, so that
    #: joint steps have one for each key.
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

    #: What a task has one of, chosen on validation examples; () if nothing is.
    #: Outputs of examples with targets hold, by choice, `choice_loss` `[G, B,
    #: choices]` and maybe `choice_scores` `[G, B, choices, labels]`.
    choices: tuple[Any, ...] = ()

    def chosen(self, task: int) -> Any:
        """The choice that a task has, None for a task without one."""
        return None

    def choose(self, task: int, choice: int) -> bool:
        """Gives a task one of the choices, as a weight that is not trained.

        Args:
            task: its number.
            choice: the number of one of `choices`.

        Returns:
            Whether it had another before.
        """
        raise NotImplementedError

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that belong to single tasks."""
        raise NotImplementedError

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable word vectors."""
        raise NotImplementedError


def count_parameters(model: TaskModel, include_embedding: bool = False) -> int:
    """Number of trainable parameters, as the papers' tables count them.

    Args:
        model: a built one.
        include_embedding: count the word vectors too, if they are trained.
    """
    vectors = {id(v) for v in model.embedding_variables()}
    return sum(
        int(np.prod(v.shape))
        for v in model.trainable_variables
        if include_embedding or id(v) not in vectors
    )


def count_own_parameters(model: TaskModel, tasks: int) -> int:
    """Number of trainable parameters of each task's own: their mean.

    Args:
        model: a built one.
        tasks: their number.
    """
    total = sum(int(np.prod(v.shape)) for v in model.private_variables())
    return round(total / tasks)


def count_all_parameters(model: keras.Model) -> int:
    """Number of parameters, frozen ones and word vectors too.

    What is chosen on validation examples does not count.

    Args:
        model: a built one.
    """
    # Integers are tables, such as those of words' n-grams.
    return sum(
        int(np.prod(v.shape))
        for v in model.weights
        if "int" not in v.dtype and not getattr(v, "is_choice", False)
    )


def _as_json(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value.to_dict() if hasattr(value, "to_dict") else dict(value)
