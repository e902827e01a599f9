"""The served functions of a run: raw strings to answers, in one graph."""

import abc
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from .stored_weights import StoredWeights

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

Tensors = dict[str, tf.Tensor]


class Served(abc.ABC):
    """Serves those tasks of a run that have one task type.

    Args:
        run: the return value of `mtl_tf.load`.
        models: for each task of the run, in order of the task numbers, the
            model that predicts it: one model for all, or fine-tuned copies.
        tasks: the numbers of the served tasks.
        stored: the weights that a model reads in place of its variables, by the
            model's `id`.

    Attributes:
        encoder: the run's encoder; the export must track its tables.
        inputs: names of a signature's inputs, each string [batch].
        answers: for a type whose probabilities an ensemble can average, the
            class that turns them into outputs (`ScoreAnswers`); else None.
    """

    inputs: tuple[str, ...] = ("text",)
    answers: type | None = None

    @property
    def names_tasks(self) -> bool:
        """Whether a row of `serving_default` names its task."""
        return True

    def __init__(
        self,
        run: "Run",
        models: Sequence[Any],
        tasks: Sequence[int],
        stored: Mapping[int, StoredWeights] = MappingProxyType({}),
    ):
        self._stored = dict(stored)
        self.encoder = run.encoder
        self.models, self.tasks = list(models), list(tasks)
        self.described = list(run.tasks)
        self.names = [self.described[task]["name"] for task in self.tasks]
        # Traced only once, however many signatures call it.
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
        """`run` with the weights that the export stores."""
        stored = self._stored.get(id(model))
        if stored is None:
            return self.run(model, key, task, features)
        with stored.reading():
            return self.run(model, key, task, features)

    def _strings(self) -> dict[str, tf.TensorSpec]:
        return {n: tf.TensorSpec([None], tf.string, n) for n in self.inputs}

    @property
    def tables(self) -> list[Any]:
        """Tables, besides the encoder's, that an export must track."""
        return []

    @property
    def extra(self) -> dict[str, Any]:
        """Further JSON files of an export, by name."""
        return {}

    @classmethod
    @abc.abstractmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs for one row in the form of `Run.predict`."""

    @abc.abstractmethod
    def read(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """Turns strings into model inputs and what else `answer` needs.

        Args:
            inputs: string [batch] by name.

        Returns:
            Two dicts of tensors, [batch, time, ...] or [batch, ...].
        """

    @abc.abstractmethod
    def specs(self) -> dict[str, tf.TensorSpec]:
        """The shapes and types of the model's inputs."""

    @abc.abstractmethod
    def run(
        self, model: Any, key: Any, task: tf.Tensor, features: Tensors
    ) -> Tensors:
        """Runs a model on inputs of one task.

        Args:
            model: one of `models`.
            key: the return value of `key_of`.
            task: int32 [], the task's number.
            features: the first return value of `read`.

        Returns:
            Tensors [batch, ...] by name.
        """

    @abc.abstractmethod
    def empty_outputs(self, features: Tensors) -> Tensors:
        """The return value of `run` for rows without a known task."""

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
            results: the return value of `run`.
            beside: the second return value of `read`.
            number: int32 [batch], the task of each row; -1 if unknown.
            task: the number of the task, in a signature of one task.
        """

    def key_of(self, task: int) -> Any:
        """The key of a model's trace for a task; equal keys share one trace."""
        return self.models[task].key_of(task)

    def for_task(
        self, task: int, is_known: bool = True
    ) -> Callable[..., Tensors]:
        """The function of one task's signature: `inputs` to outputs.

        Args:
            task: the task's number.
            is_known: whether the rows belong to that task. If not, any task's
                rows are answered as that task would.
        """

        def serve(**strings: tf.Tensor) -> Tensors:
            rows = [tf.size(strings[self.inputs[0]])]
            asked = tf.fill(rows, task if is_known else -1)
            features, beside = self._read(self.completed(strings, asked))
            forward = self._forward[self._trace(task)]
            results = forward(tf.constant(task), features)
            return self.answer(results, beside, tf.fill(rows, task), task)

        return signature(serve, self.inputs)

    def for_all(self) -> Callable[..., Tensors]:
        """The function of `serving_default`: `inputs` and `task` [batch].

        A row with an unknown task gets empty strings and zeros.
        """

        def serve(task: tf.Tensor, **strings: tf.Tensor) -> Tensors:
            number = known_tasks(task, self.names, self.tasks)
            features, beside = self._read(self.completed(strings, number))
            results = self._run_mixed(features, number)
            return self.answer(results, beside, number)

        return signature(serve, (*self.inputs, "task"))

    def completed(self, strings: Tensors, number: tf.Tensor) -> Tensors:
        """Fills inputs that a task's config entry fixes for all of its rows.

        Args:
            strings: `inputs`, string [batch] by name.
            number: int32 [batch], the task of each row; -1 if unknown.
        """
        del number
        return strings

    def padded(
        self, ragged: Mapping[str, tf.RaggedTensor], first: str = "tokens"
    ) -> Tensors:
        """Pads ragged features [batch, None, ...] to tensors of one length.

        Args:
            ragged: the features of one time axis.
            first: the feature that gives the lengths.
        """
        tokens = ragged[first]
        # A recurrence over zero steps fails, so a batch of empty texts has one.
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
        """Runs each task on its own rows; rows of task -1 stay empty."""
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


def signature(
    function: Callable[..., Tensors], names: Sequence[str]
) -> Callable[..., Tensors]:
    """A function of strings [batch] with these input names, for an export."""

    def named(*strings: tf.Tensor) -> Tensors:
        return function(**dict(zip(names, _of_as_many_rows(names, strings))))

    # An export takes the input names from the function's parameters.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind) for name in names]
    )
    specs = [tf.TensorSpec([None], tf.string, name) for name in names]
    return tf.function(named, input_signature=specs)


def _of_as_many_rows(
    names: Sequence[str], strings: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Makes a call fail if its inputs differ in their number of rows.

    Otherwise a text without a task would count as one of an unknown task.
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


def known_tasks(
    named: tf.Tensor, names: Sequence[str], numbers: Sequence[int]
) -> tf.Tensor:
    """The number of each row's task, int32 [batch]; -1 if it is unknown.

    Args:
        named: the name of each row's task, string [batch].
        names: the names of the known tasks.
        numbers: their numbers.
    """
    is_task = tf.equal(named[:, None], tf.constant(list(names))[None])
    is_known = tf.reduce_any(is_task, 1)
    place = tf.argmax(is_task, 1, output_type=tf.int32)
    return tf.where(is_known, tf.gather(list(numbers), place), -1)


def rows_of(features: Tensors, rows: tf.Tensor) -> Tensors:
    """Selects the rows [n, 1] of features."""
    return {name: tf.gather_nd(part, rows) for name, part in features.items()}


def updated(tensors: Tensors, rows: tf.Tensor, values: Tensors) -> Tensors:
    """Replaces the rows [n, 1] of tensors by `values`."""
    return {
        name: tf.tensor_scatter_nd_update(old, rows, values[name])
        for name, old in tensors.items()
    }


DEFAULT = "serving_default"


def all_served(
    run: "Run",
    models: Sequence[Any],
    stored: Mapping[int, StoredWeights] = MappingProxyType({}),
) -> dict[str, Served]:
    """The `Served` of each task type of a run, by type.

    Args:
        run: the return value of `mtl_tf.load`.
        models, stored: see `Served`. A task whose model is None is not served.
    """
    from . import task_types as served_types

    numbers: dict[str, list[int]] = {}
    for number, task in enumerate(run.tasks):
        if models[number] is not None:
            numbers.setdefault(task["type"], []).append(number)
    return {
        name: served_types.of(name)(run, models, tasks, stored=stored)
        for name, tasks in numbers.items()
    }


def functions(
    served: Mapping[str, Served], tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Callable[..., Tensors]]:
    """The functions of all signatures of a run, by signature.

    There is one for each task, of the task's name. If all tasks have one type,
    there is also `serving_default`, whose rows name their tasks.

    Args:
        served: the return value of `all_served`.
        tasks: name and type of each task of the run.
    """
    by_signature = {
        task["name"]: served[task["type"]].for_task(number)
        for number, task in enumerate(tasks)
    }
    if len(served) == 1:
        (only,) = served.values()
        by_signature[DEFAULT] = only.for_all()
    return by_signature
