"""What a run asks of a task type: its predictions."""

import abc
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import strict_json
from mtl_tf.core.columns import has_column, renamed
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.encoded_split import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks import fields as entry_fields
from mtl_tf.tasks import registry, row_files, tagged_readers
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import inputs
from mtl_tf.tasks.task import Task

TaskDict = Mapping[str, Any]
Prediction = dict[str, Any]
Outputs = Mapping[str, Any]
AT_ONCE = 1024
#: What a run knows of a task since it was settled on validation examples.
FITTED_FIELDS = ("temperature", "decision", "thresholds")


def as_json(prediction: Mapping[str, Any]) -> str:
    """A prediction as a line of JSON, with null for no finite number."""
    return strict_json.dumps(prediction) + "\n"


class PredictionType(abc.ABC):
    """The predictions of a task type.

    Attributes:
        outputs: what is taken of a model's outputs, by name: whether it has a
            value for each place of the first time axis.
        field_names: what an example's fields are called where they are not
            called as the type's input features.
        fixed: those of them that the entry of a task may give for all; a
            `Run` has them in its tasks.
        targets_are_encoded: whether the columns of an encoded split hold all
            that its predictions are scored against.
        decodes_inputs: whether `decode` always reads the inputs themselves.
        fits: whether `fit` settles anything.
        forms: how predictions can be written, by name: each a function from
            a prediction to its lines; "jsonl" is there always.
        given_texts: the `GivenTexts` of a type whose models write texts: how
            they score one that is given.
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
        """The fields of an example that a user gives without its target.

        Args:
            task: the task.
            value: a mapping of fields, or a short form such as a string.

        Returns:
            The input features by name.

        Raises:
            TypeError: it is none; the message says what would be right.
        """

    def input_fields(self, task: TaskDict) -> list[str]:
        """What the fields of an example are called, without its target."""
        features = types_of_tasks.of(task["type"]).features
        return [
            self.field_names.get(feature.name, feature.name)
            for feature in inputs(features(task["labels"], task))
        ]

    def column_fields(self, task: TaskDict) -> list[str]:
        """Those of an example's fields that a cell of a table can hold."""
        return self.input_fields(task)

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """Those of a task's own columns, by field, that a row has."""
        return {
            field: name
            for field, name in columns.items()
            if has_column(row, name)
        }

    def named(
        self, task: TaskDict, value: Any, columns: Mapping[str, str]
    ) -> Any:
        """An example whose features have their own names.

        Args:
            task: the task.
            value: what a user gives: a mapping, or a short form. That stays,
                and so do exactly the features: columns may swap their names.
            columns: by field what the task's own files call it.
        """
        names = self.input_fields(task)
        if not isinstance(value, Mapping):
            return value
        has_objects = any(isinstance(cell, Mapping) for cell in value.values())
        if sorted(value) == sorted(names) and not has_objects:
            return value
        return renamed(value, self.columns_in(value, columns))

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, Any]:
        """The fields of a line of text; raises as `fields_of` does."""
        return self.fields_of(task, line)

    def asked(self, task: TaskDict) -> tuple[str, ...]:
        """What a line has between its tabs, by name."""
        del task
        return ("text",)

    def may_be_empty(self, task: TaskDict) -> tuple[str, ...]:
        """The fields that an example need not have text in."""
        del task
        return ()

    def fields_to_show(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that stand before a prediction."""
        return {k: v for k, v in fields.items() if isinstance(v, str)}

    def told(self, prediction: Mapping[str, Any]) -> str:
        """A prediction as a line for people.

        By default its form "text", else what it has as JSON.
        """
        if "text" in self.forms:
            return self.forms["text"](prediction).strip() or "(nothing)"
        fields = {k: v for k, v in prediction.items() if k != "task"}
        return as_json(fields).strip()

    @abc.abstractmethod
    def predict(
        self, run: Any, task: TaskDict, examples: list[dict], batch_size: int
    ) -> list[Prediction]:
        """Predicts examples.

        Args:
            run: the `Run`.
            task: the task.
            examples: what `fields_of` returned of each.
            batch_size: examples at a time.

        Returns:
            Of each "task" and what the type has, plain values for JSON.
        """

    # What is settled on validation examples, after training.

    def fit(self, task: TaskDict, targets: Any, outputs: Outputs) -> dict:
        """What a trained run settles on its validation examples.

        Args:
            task: the task.
            targets: of the examples.
            outputs: the model's for them.

        Returns:
            Values for JSON that the run then knows of the task, such as
            thresholds; none by default.
        """
        del task, targets, outputs
        return {}

    #: Whether each label may have a threshold; else one of them has.
    several_thresholds = False

    def decision(
        self, task: TaskDict, targets: Any, outputs: Outputs, wish: Any
    ) -> dict[str, Any]:
        """The threshold of a label that is asked for.

        Args:
            task: the task, with what `fit` returned.
            targets: of the validation examples.
            outputs: the model's for them, with the final probabilities.
            wish: a `calibrating.Wish` of one of the task's labels.

        Returns:
            Values for JSON that `decided` understands.

        Raises:
            ConfigError: the type has no such thing, as by default.
        """
        del targets, outputs, wish
        raise ConfigError(
            f"the task {task['name']} is of the type {task['type']}, which "
            "has no thresholds of labels"
        )

    def decided(self, task: TaskDict, outputs: Outputs) -> Outputs:
        """The outputs with the predictions that `fit` has settled."""
        del task
        return outputs

    # From splits to scores.

    def inputs(self, task: Task, split: str) -> list[Any]:
        """What predictions are made of, in the order of a split.

        Returns:
            The examples' texts, as bytes, by default.
        """
        batches = fixed(batched(task.dataset(split), AT_ONCE))
        return [t for batch in batches for t in task.text_of(batch).numpy()]

    def targets(self, task: Task, split: str) -> list[Any] | None:
        """What a split is scored against, where it is not what is encoded."""
        del task, split

    def check_scored(self, task: Task, split: str) -> None:
        """Refuses a split that the task's metrics cannot score.

        By default nothing is checked here.

        Raises:
            DataError: an example lacks something; the message says where.
        """
        del task, split

    @abc.abstractmethod
    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """What an encoded split is scored against."""

    def decode(
        self, decoder: Any, task: int, split: EncodedSplit, texts: Sequence
    ) -> dict[str, Any]:
        """Outputs beside the model's; see `System.make_decoder`."""
        del decoder, task, split, texts
        return {}

    def variants(
        self, run: Any, task: str, predictions: Sequence, labels: Sequence
    ) -> dict[str, tuple[Sequence, Sequence]]:
        """Further pairs of predictions and labels that are scored."""
        del run, task, predictions, labels
        return {}

    # Labelled files beside a run's own splits.

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads a labelled file in the format of the task's own files.

        Args:
            path: the file.
            task: the task.
            entry: its entry in the config, if it is on the user's own files,
                or {}.

        Returns:
            The fields of each example, and what predictions are scored
            against.

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
        """Fields of `TaskPredictions` of what `predict` returned.

        Args:
            task: the task.
            predictions: of n examples.
            targets: what `read_file` returned.

        Returns:
            "labels", "predictions" and others.
        """


def resolve_file(path: str, task: TaskDict, entry: Mapping[str, Any]) -> Task:
    """The task of an entry, with one file in place of its own ones."""
    task_type = types_of_tasks.of(task["type"])
    settings = {k: v for k, v in task.items() if k not in ("labels", "metrics")}
    form = entry.get("format") or entry_fields.format_of(path, _FORMATS)
    entry = {
        **_suited(entry, form, task_type.file_fields),
        **task_type.fixed_fields(task["labels"], settings),
        "name": task["name"],
        "type": task["type"],
        "files": {"test": path},
    }
    (resolved,) = registry.resolve([entry], None, None)
    return resolved


_FORMATS = (*row_files.FORMATS, *tagged_readers.FORMATS)


def _suited(
    entry: Mapping[str, Any],
    form: str,
    file_fields: Mapping[str, tuple[str, ...]],
) -> dict[str, Any]:
    """An entry without what its own files need and those of a format do not."""
    if form not in _FORMATS:
        return dict(entry)
    # By number where there may be no names, by name where there are some.
    right = {"csv": (int, str), "tsv": (int, str), "conll": (int,)}
    columns = {
        feature: column
        for feature, column in (entry.get("columns") or {}).items()
        if isinstance(column, right.get(form, (str,)))
    }
    fields = {
        field: value
        for field, value in entry.items()
        if form in (file_fields.get(field) or _FORMATS)
    }
    return {**fields, "columns": columns} if "columns" in fields else fields


def format_of(
    path: str, entry: Mapping[str, Any], formats: Sequence[str]
) -> str:
    """A file without a known ending is like the task's other ones."""
    if entry.get("format"):
        return entry["format"]
    # Files of two languages have endings of their own.
    others = map(entry_fields.listed, entry.get("files", {}).values())
    paths = [p for p in itertools.chain([path], *others) if isinstance(p, str)]
    candidates = (entry_fields.format_of(p, formats) for p in paths)
    return next(filter(None, candidates), "")


def as_tensors(examples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Examples of strings and of lists of strings as tensors by name.

    Args:
        examples: at least one; all with the same fields.
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
