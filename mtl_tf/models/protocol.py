"""The interface that training, prediction and export expect of a model."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Self

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core.weight_marks import marks_of

#: A property of a batch's tasks that decides the graph. Tasks with equal keys
#: share one trace.
Key = str | int | None


class TaskModel(keras.Model):
    """Base class of models of several tasks.

    Every model that is trained, used for prediction or exported is a subclass.
    Batches are those of `mtl_tf.pipelines.batches`. A task's columns are
    declared by its task type.

    `save("x.keras")` and `keras.models.load_model` work if the model's builder
    has called `remember` with the arguments that it was built from.
    """

    _arguments = ""

    def remember(self, **arguments: Any) -> None:
        """Stores the arguments from which `build_again` can make the model.

        Args:
            **arguments: values for JSON, mappings and arrays; no weights.
        """
        # Stored as text, because Keras and checkpoints would track a
        # dictionary.
        self._arguments = json.dumps(arguments, default=_as_json)

    @classmethod
    def build_again(cls, **arguments: Any) -> Self:
        """Builds a model from the arguments of `remember`, in JSON's types."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The config from which `from_config` builds the model.

        Raises:
            NotImplementedError: the model was not made by its builder.
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

    #: Whether an auxiliary loss is of the examples of all replicas together,
    #: which cannot be computed part by part.
    sums_over_replicas: bool = False

    #: The `key` of batches with a group for every task, although the tasks' own
    #: keys differ. None if such batches are impossible; joint steps then have
    #: one batch for each key.
    joint_key: Key = None

    def key_of(self, task: int) -> Key:
        """The `key` that `call` needs for batches of a task, by its number.

        None if all tasks share one graph.
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
            seed: int32 `[2]`, for everything random.
            inspect: fill "inspect" with the tensors that figures show.
            key: what `key_of` returned for the groups' tasks.

        Returns:
            "loss" float32 `[G, B]` of each example, if the batch has targets;
            "losses" by name, auxiliary losses that are added to it, `[G, B]`
            with one number per example or a scalar; "inspect" by name;
            optionally "diagnostics" by name, float `[G, B]`; and the
            predictions that the tasks' types name
            (`mtl_tf.prediction.task_types`).
        """
        raise NotImplementedError

    #: Options of which each task gets one, chosen on validation examples; ()
    #: for none. Outputs of examples with targets then contain `choice_loss`
    #: `[G, B, choices]` and optionally `choice_scores`
    #: `[G, B, choices, labels]`.
    choices: tuple[Any, ...] = ()

    def chosen(self, task: int) -> Any:
        """A task's current choice; None for a task without one."""
        return None

    def choose(self, task: int, choice: int) -> bool:
        """Sets a task's choice, which is stored as a non-trainable weight.

        Args:
            task: the task's number.
            choice: index of one of `choices`.

        Returns:
            Whether the choice changed.
        """
        raise NotImplementedError

    def adapt(self, batches: Iterable[Mapping[str, np.ndarray]]) -> None:
        """Sets weights that count something in the texts to train on.

        It is called once, before the first step of a new run. By default there
        is nothing to count, and no batch is read.

        Args:
            batches: batches of one group, with all texts in source order.
        """
        del batches

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that belong to single tasks."""
        raise NotImplementedError

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable word vectors."""
        raise NotImplementedError


def count_parameters(model: TaskModel, include_embedding: bool = False) -> int:
    """Number of trainable parameters, as the papers' tables count them.

    Args:
        model: a built model.
        include_embedding: count the word vectors too, if they are trained.
    """
    vectors = {id(v) for v in model.embedding_variables()}
    return sum(
        int(np.prod(v.shape))
        for v in model.trainable_variables
        if include_embedding or id(v) not in vectors
    )


def count_own_parameters(model: TaskModel, tasks: int) -> int:
    """Mean number of trainable parameters that belong to one task.

    Args:
        model: a built model.
        tasks: number of tasks.
    """
    total = sum(int(np.prod(v.shape)) for v in model.private_variables())
    return round(total / tasks)


def count_all_parameters(model: keras.Model) -> int:
    """Number of all parameters, including frozen ones and word vectors.

    Choices made on validation examples and frequencies of n-grams do not count.

    Args:
        model: a built model.
    """
    # Integer weights are look-up tables, such as those of words' n-grams.
    return sum(
        int(np.prod(v.shape))
        for v in model.weights
        if "int" not in v.dtype and marks_of(v).is_parameter
    )


def _as_json(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value.to_dict() if hasattr(value, "to_dict") else dict(value)
