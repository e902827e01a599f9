"""The base class of what a task type predicts, and from which inputs."""

import abc
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import strict_json
from mtl_tf.core.columns import has_column, renamed
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.prediction.other_files import resolve_file
from mtl_tf.prediction.predicting_run import PredictingRun, TaskDict
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import inputs
from mtl_tf.tasks.task import Task

Prediction = dict[str, Any]
Outputs = Mapping[str, Any]
#: The fields of a task that a run has fitted on validation examples.
FITTED_FIELDS = ("temperature", "decision", "thresholds")


def as_json(prediction: Mapping[str, Any]) -> str:
    """A prediction as a line of JSON; infinite numbers and NaN are null."""
    return strict_json.dumps(prediction) + "\n"


def no_texts(value: Any, names: Sequence[str]) -> str:
    """What of an example is no text, for a message.

    Args:
        value: the example; of a mapping only what is wrong is named.
        names: the names of its texts.
    """
    if not isinstance(value, Mapping):
        return f"{value!r:.60}"
    wrong = {
        n: value.get(n) for n in names if not isinstance(value.get(n), str)
    }
    return " and ".join(
        f"no {name}" if text is None else f"{text!r:.60} as {name}"
        for name, text in wrong.items()
    )


class PredictionType(abc.ABC):
    """How a run predicts the tasks of a type.

    Attributes:
        outputs: the names of the model outputs that are kept, "loss" among
            them. The value is whether an output has an entry for each place of
            the first time axis.
        field_names: input feature to the name of an example's field, where the
            two differ.
        fixed: fields that a task's config entry may fix for all examples; a
            `Run` keeps them in its tasks.
        targets_are_encoded: whether the columns of an encoded split hold
            everything that predictions are scored against.
        decodes_inputs: whether `decode` always reads the inputs themselves.
        fits: whether `fit` fits anything.
        forms: output formats by name, each a function from a prediction to its
            lines; "jsonl" is always there.
        given_texts: for types whose models write texts, the `GivenTexts` that
            scores given texts; else None.
    """

    outputs: Mapping[str, bool]
    field_names: Mapping[str, str] = MappingProxyType({})
    fixed: tuple[str, ...] = ()
    targets_are_encoded = True
    decodes_inputs = False
    fits = False
    forms: Mapping[str, Callable[[Mapping[str, Any]], str]] = {"jsonl": as_json}
    given_texts: Any = None

    # From a user's input to predictions.

    @abc.abstractmethod
    def fields_of(self, task: TaskDict, value: Any) -> dict[str, Any]:
        """Turns a user's example without its target into input features.

        Args:
            task: the task.
            value: a mapping of fields, or a short form such as a string.

        Returns:
            The input features by name.

        Raises:
            TypeError: it is no example of the task; the message says what is
                right.
        """

    def input_fields(self, task: TaskDict) -> list[str]:
        """The names of an example's fields, without its target."""
        features = types_of_tasks.of(task["type"]).features
        return [
            self.field_names.get(feature.name, feature.name)
            for feature in inputs(features(task["labels"], task))
        ]

    def input_ranks(self, task: TaskDict) -> list[int]:
        """The ranks of these fields in an example: 1 for lists of words."""
        features = types_of_tasks.of(task["type"]).features
        return [
            feature.rank for feature in inputs(features(task["labels"], task))
        ]

    def column_fields(self, task: TaskDict) -> list[str]:
        """The fields of an example that one cell of a table can hold."""
        return self.input_fields(task)

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """The task's own column names, by field, that occur in a row."""
        return {
            field: name
            for field, name in columns.items()
            if has_column(row, name)
        }

    def named(
        self, task: TaskDict, value: Any, columns: Mapping[str, str]
    ) -> Any:
        """Renames an example's columns to the names of its fields.

        Args:
            task: the task.
            value: an example: a mapping, or a short form. Short forms are
                returned unchanged, and so is a mapping with exactly the fields,
                as a task's columns may have swapped names.
            columns: field to its column name in the task's own files.
        """
        names = self.input_fields(task)
        if not isinstance(value, Mapping):
            return value
        has_objects = any(isinstance(cell, Mapping) for cell in value.values())
        if sorted(value) == sorted(names) and not has_objects:
            return value
        return renamed(value, self.columns_in(value, columns))

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, Any]:
        """Parses a line of text into fields; raises as `fields_of` does."""
        return self.fields_of(task, line)

    def asked(self, task: TaskDict) -> tuple[str, ...]:
        """The names of the tab-separated fields of a line."""
        del task
        return ("text",)

    def may_be_empty(self, task: TaskDict) -> tuple[str, ...]:
        """The fields whose text may be empty."""
        del task
        return ()

    def fields_to_show(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that are printed before a prediction."""
        return {k: v for k, v in fields.items() if isinstance(v, str)}

    def told(self, prediction: Mapping[str, Any]) -> str:
        """A prediction as one line for people to read.

        The default is its form "text" or, without one, its fields as JSON.
        """
        if "text" in self.forms:
            return self.forms["text"](prediction).strip() or "(nothing)"
        fields = {k: v for k, v in prediction.items() if k != "task"}
        return as_json(fields).strip()

    @abc.abstractmethod
    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: list[dict],
        batch_size: int,
    ) -> list[Prediction]:
        """Predicts examples.

        Args:
            run: the `Run`.
            task: the task.
            examples: the return value of `fields_of` for each.
            batch_size: examples at a time.

        Returns:
            For each example a dict of "task" and the type's fields, as JSON
            values.
        """

    def cut(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: Sequence[Mapping[str, Any]],
    ) -> np.ndarray:
        """Which examples are longer than the run's model reads.

        Args:
            run: the `Run`.
            task: the task.
            examples: at least one; the return value of `fields_of` for each.

        Returns:
            bool [n].
        """
        texts, cut = as_tensors(examples), np.zeros(len(examples), bool)
        for column in run.token_columns(task):
            if column.limit and texts.keys() >= {*column.texts}:
                cut |= column.whole_lengths(texts) > column.limit
        return cut

    # Fitted on validation examples, after training.

    def fit(self, task: TaskDict, targets: Any, outputs: Outputs) -> dict:
        """Fits what the predictions of a type need, on validation examples.

        Args:
            task: the task.
            targets: the targets of the examples.
            outputs: the model's outputs for them.

        Returns:
            JSON values that the run adds to the task, such as thresholds; none
            by default.
        """
        del task, targets, outputs
        return {}

    #: Whether each label may have a threshold; else at most one label has.
    several_thresholds = False

    def decision(
        self, task: TaskDict, targets: Any, outputs: Outputs, wish: Any
    ) -> dict[str, Any]:
        """Finds the threshold of a label as the user wishes.

        Args:
            task: the task, with the result of `fit`.
            targets: the targets of the validation examples.
            outputs: the model's outputs for them, with final probabilities.
            wish: a `calibrating.Wish` for one of the task's labels.

        Returns:
            JSON values for `decided` to apply.

        Raises:
            ConfigError: the type has no thresholds; this is the default.
        """
        del targets, outputs, wish
        raise ConfigError(
            f"the task {task['name']} is of the type {task['type']}, which "
            "has no thresholds of labels"
        )

    def decided(self, task: TaskDict, outputs: Outputs) -> Outputs:
        """Applies the values of `fit` and `decision` to the model's outputs."""
        del task
        return outputs

    # From splits to scores.

    def inputs(self, task: Task, split: str) -> list[Any]:
        """The inputs of a split's examples, in order.

        Returns:
            By default the examples' texts, as bytes.
        """
        batches = fixed(batched(task.dataset(split)))
        return [t for batch in batches for t in task.text_of(batch).numpy()]

    def targets(self, task: Task, split: str) -> list[Any] | None:
        """What a split is scored against; None for its encoded targets."""
        del task, split

    def check_scored(self, task: Task, split: str) -> None:
        """Refuses a split that the task's metrics cannot score.

        By default everything passes.

        Raises:
            DataError: an example lacks what a metric needs; the message says
                where.
        """
        del task, split

    @abc.abstractmethod
    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """The targets of an encoded split, in the form that is scored."""

    def decode(
        self, decoder: Any, task: int, split: EncodedSplit, texts: Sequence
    ) -> dict[str, Any]:
        """Further outputs, from a decoder; see `System.make_decoder`."""
        del decoder, task, split, texts
        return {}

    def variants(
        self,
        run: PredictingRun,
        task: str,
        predictions: Sequence,
        labels: Sequence,
    ) -> dict[str, tuple[Sequence, Sequence]]:
        """Further pairs of predictions and labels to score, by name."""
        del run, task, predictions, labels
        return {}

    # Labelled files other than a run's own splits.

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads a labelled file in the format of the task's own files.

        Args:
            path: the file.
            task: the task.
            entry: its config entry if the task has files of its own, else {}.

        Returns:
            The fields of each example, and the targets to score against.

        Raises:
            MtlError: the file cannot be read or has a wrong line.
        """
        resolved = resolve_file(path, task, {**entry})
        names = [feature.name for feature in inputs(resolved.features)]
        rows = list(resolved.dataset("test").as_numpy_iterator())
        examples = [
            {name: row[name].decode("utf-8", "replace") for name in names}
            for row in rows
        ]
        (target,) = (f.name for f in resolved.features if f.name not in names)
        return examples, np.array([row[target] for row in rows])

    @abc.abstractmethod
    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """Turns the results of `predict` into fields of `TaskPredictions`.

        Args:
            task: the task.
            predictions: the predictions for n examples.
            targets: the targets from `read_file`.

        Returns:
            "labels", "predictions" and other fields.
        """


def as_tensors(examples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Turns examples of strings or lists of strings into tensors by name.

    Args:
        examples: at least one; all have the same fields.
    """
    columns = {}
    for name in examples[0]:
        values = [example[name] for example in examples]
        if isinstance(values[0], str):
            encoded = [value.encode("utf-8", "replace") for value in values]
            columns[name] = tf.constant(encoded, tf.string)
            continue
        flat = [w.encode("utf-8", "replace") for value in values for w in value]
        columns[name] = tf.RaggedTensor.from_row_lengths(
            tf.constant(flat, tf.string, shape=[len(flat)]),
            np.array([len(value) for value in values], np.int64),
            validate=False,
        )
    return columns
