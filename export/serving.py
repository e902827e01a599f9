"""The served functions of a run: raw strings in, answers out, in one graph."""

import abc
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import tensorflow as tf

from .stored_weights import StoredWeights

Tensors = dict[str, tf.Tensor]


class Served(abc.ABC):
    """The tasks of one type of a run.

    Args:
        run: what `mtl_tf.load` returned.
        models: what predicts each task of the run, in the order of the tasks'
            numbers: one model for all, or fine-tuned copies.
        tasks: the numbers of the tasks.
        stored: weights that models read in place of their own, by `id`.

    Attributes:
        encoder: the run's texts; its tables must be tracked by the export.
        inputs: the names of the strings [batch] that a signature takes.
    """

    inputs: tuple[str, ...] = ("text",)

    @property
    def names_tasks(self) -> bool:
        """Whether the rows of `serving_default` name their tasks."""
        return True

    def __init__(
        self,
        run: Any,
        models: Sequence[Any],
        tasks: Sequence[int],
        stored: Mapping[int, StoredWeights] = MappingProxyType({}),
    ):
        self._stored = dict(stored)
        self.encoder = run.encoder
        self.models, self.tasks = list(models), list(tasks)
        self.described = list(run.tasks)
        self.names = [self.described[task]["name"] for task in self.tasks]
        # Traced once, whatever the number of signatures that call them.
        self._read = tf.function(self.read, input_signature=[self._strings()])
        self._forward: dict[tuple, Callable] = {}
        for task in self.tasks:
            model, key = self.models[task], self.key_of(task)
            self._forward[id(model), key] = tf.function(
                functools.partial(self._run_stored, model, key),
                input_signature=[tf.TensorSpec([], tf.int32), self.specs()],
            )

    def _run_stored(
        self, model: Any, key: Any, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """`run`, with the weights that the export holds."""
        stored = self._stored.get(id(model))
        if stored is None:
            return self.run(model, key, task, features)
        with stored.reading():
            return self.run(model, key, task, features)

    def _strings(self) -> dict[str, tf.TensorSpec]:
        return {n: tf.TensorSpec([None], tf.string, n) for n in self.inputs}

    @property
    def tables(self) -> list[Any]:
        """Tables that an export has to track beside the encoder's."""
        return []

    @property
    def extra(self) -> dict[str, Any]:
        """JSON files that travel with an export, by name."""
        return {}

    @classmethod
    @abc.abstractmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """What the outputs of one row say, in the form of `Run.predict`."""

    @abc.abstractmethod
    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """What the model reads of strings, and what else answers need.

        Args:
            inputs: string [batch] by name.

        Returns:
            Both by name, [batch, time, ...] or [batch, ...].
        """

    @abc.abstractmethod
    def specs(self) -> dict[str, tf.TensorSpec]:
        """The shapes of what the model reads."""

    @abc.abstractmethod
    def run(
        self, model: Any, key: Any, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """What a model says of texts of a task.

        Args:
            model: one of `models`.
            key: what `key_of` returned.
            task: int32 [], the task's number.
            features: the first thing that `read` returned.

        Returns:
            By name, [batch, ...].
        """

    @abc.abstractmethod
    def empty_outputs(self, features: Tensors) -> Tensors:
        """The same of rows that no task answers."""

    @abc.abstractmethod
    def answer(
        self,
        results: Tensors,
        beside: Tensors,
        number: tf.Tensor,
        task: int | None = None,
    ) -> Tensors:
        """The outputs of a signature.

        Args:
            results: what `run` returned.
            beside: the second thing that `read` returned.
            number: int32 [batch], the task of each row; -1 if unknown.
            task: the number of all rows' task, where the signature is one's.
        """

    def key_of(self, task: int) -> Any:
        """What a model has a trace for: tasks of equal keys share one."""
        return self.models[task].key_of(task)

    def for_task(
        self, task: int, is_known: bool = True
    ) -> Callable[..., Tensors]:
        """The function of one task's signature: `inputs` to outputs.

        Args:
            task: its number.
            is_known: whether rows are that task's; else they may be any one's
                and are only answered as it would.
        """

        def serve(**strings: tf.Tensor) -> Tensors:
            rows = [tf.size(strings[self.inputs[0]])]
            asked = tf.fill(rows, task if is_known else -1)
            features, beside = self._read(self.completed(strings, asked))
            forward = self._forward[self._trace(task)]
            results = forward(tf.constant(task), features)
            return self.answer(results, beside, tf.fill(rows, task), task)

        return _signature(serve, self.inputs)

    def for_all(self) -> Callable[..., Tensors]:
        """The function of `serving_default`: `inputs` and `task` [batch].

        A row with an unknown task gets empty strings and zeros.
        """

        def serve(task: tf.Tensor, **strings: tf.Tensor) -> Tensors:
            is_task = tf.equal(task[:, None], tf.constant(self.names)[None])
            is_known = tf.reduce_any(is_task, 1)
            place = tf.argmax(is_task, 1, output_type=tf.int32)
            number = tf.where(is_known, tf.gather(self.tasks, place), -1)
            features, beside = self._read(self.completed(strings, number))
            results = self._run_mixed(features, number)
            return self.answer(results, beside, number)

        return _signature(serve, (*self.inputs, "task"))

    def completed(self, strings: Tensors, number: tf.Tensor) -> Tensors:
        """The inputs with what a task's config entry gives for all of its rows.

        Args:
            strings: `inputs`, string [batch] by name.
            number: int32 [batch], the task of each row; -1 if unknown.
        """
        del number
        return strings

    def padded(
        self, ragged: Mapping[str, tf.RaggedTensor], first: str = "tokens"
    ) -> Tensors:
        """Ragged features [batch, None, ...] as tensors of one time.

        Args:
            ragged: the features of one time axis.
            first: the one that tells how long they are.
        """
        tokens = ragged[first]
        # A recurrence over no step at all fails where no text has a word.
        longest = tf.maximum(tokens.bounding_shape(out_type=tf.int32)[1], 1)
        rows = tf.cast(tokens.nrows(), tf.int32)

        def dense(column: tf.RaggedTensor) -> tf.Tensor:
            inner = column.flat_values.shape[1:]
            shape = tf.stack([rows, longest, *inner])
            return tf.ensure_shape(
                column.to_tensor(shape=shape), (None, *column.shape[1:])
            )

        return {name: dense(column) for name, column in ragged.items()}

    def _run_mixed(self, features: Tensors, number: tf.Tensor) -> Tensors:
        """Runs each task on its own rows; rows of task -1 get nothing."""
        results = self.empty_outputs(features)
        for forward, tasks in self._tasks_by_trace():
            for task in tf.constant(tasks):
                rows = tf.where(tf.equal(number, task))
                if tf.size(rows) > 0:
                    of_task = forward(task, rows_of(features, rows))
                    results = updated(results, rows, of_task)
        return results

    def _tasks_by_trace(self) -> list[tuple[Callable, list[int]]]:
        groups: dict[tuple, list[int]] = {}
        for task in self.tasks:
            groups.setdefault(self._trace(task), []).append(task)
        return [(self._forward[key], tasks) for key, tasks in groups.items()]

    def _trace(self, task: int) -> tuple:
        return id(self.models[task]), self.key_of(task)


def _signature(
    function: Callable[..., Tensors], names: Sequence[str]
) -> Callable[..., Tensors]:
    """A function of strings [batch] with these names, for an export."""

    def named(*strings: tf.Tensor) -> Tensors:
        return function(**dict(zip(names, _of_as_many_rows(names, strings))))

    # A signature's inputs are called like the parameters of its function.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind) for name in names]
    )
    specs = [tf.TensorSpec([None], tf.string, name) for name in names]
    return tf.function(named, input_signature=specs)


def _of_as_many_rows(
    names: Sequence[str], strings: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """The inputs of a signature, whose call fails if their rows differ.

    A text without a task would pass for one of an unknown task.
    """
    first, *others = strings
    right = [
        tf.debugging.assert_equal(
            tf.size(other),
            tf.size(first),
            f"{names[0]} and {name} must have as many rows as each other",
        )
        for name, other in zip(names[1:], others)
    ]
    with tf.control_dependencies(right):
        return [tf.identity(column) for column in strings]


def rows_of(features: Tensors, rows: tf.Tensor) -> Tensors:
    """Some rows [n, 1] of features."""
    return {name: tf.gather_nd(part, rows) for name, part in features.items()}


def updated(tensors: Tensors, rows: tf.Tensor, values: Tensors) -> Tensors:
    """The tensors with `values` in place of their rows [n, 1]."""
    return {
        name: tf.tensor_scatter_nd_update(old, rows, values[name])
        for name, old in tensors.items()
    }


DEFAULT = "serving_default"


def all_served(
    run: Any,
    models: Sequence[Any],
    stored: Mapping[int, StoredWeights] = MappingProxyType({}),
) -> dict[str, Served]:
    """What is served of each task type of a run, by type.

    Args:
        run: what `mtl_tf.load` returned.
        models, stored: see `Served`.
    """
    from . import task_types as served_types

    numbers: dict[str, list[int]] = {}
    for number, task in enumerate(run.tasks):
        numbers.setdefault(task["type"], []).append(number)
    return {
        name: served_types.of(name)(run, models, tasks, stored=stored)
        for name, tasks in numbers.items()
    }


def functions(
    served: Mapping[str, Served], tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Callable[..., Tensors]]:
    """The functions of all signatures of a run, by signature.

    They are one for each task, by the task's name, and `serving_default`,
    whose rows name their tasks, where all tasks are of one type.

    Args:
        served: what `all_served` returned.
        tasks: name and type of each of the run's tasks.
    """
    by_signature = {
        task["name"]: served[task["type"]].for_task(number)
        for number, task in enumerate(tasks)
    }
    if len(served) == 1:
        (only,) = served.values()
        by_signature[DEFAULT] = only.for_all()
    return by_signature
