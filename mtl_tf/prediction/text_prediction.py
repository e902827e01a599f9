"""Predictions for whole texts, from one forward pass."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction.predicting_run import PredictingRun
from mtl_tf.prediction.prediction_type import (
    Outputs,
    Prediction,
    PredictionType,
    TaskDict,
    as_tensors,
)
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.features import Feature, inputs, targets


def features_of(task: TaskDict) -> tuple[Feature, ...]:
    """The features of a run's task."""
    return types_of_tasks.of(task["type"]).features(task["labels"], task)


class TextPrediction(PredictionType):
    """Predictions for examples that are texts with one target each.

    An example is a mapping with the text features; other keys are ignored. With
    one text it may also be a string, and with several a list of strings.
    """

    outputs = {"prediction": False, "scores": False, "loss": False}

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, str]:
        """See `PredictionType.fields_of`."""
        names = [feature.name for feature in inputs(features_of(task))]
        if isinstance(value, Mapping):
            texts = [value.get(name) for name in names]
        elif isinstance(value, (list, tuple)) and len(names) > 1:
            texts = list(value)
        else:
            texts = [value]
        right = len(texts) == len(names)
        if not right or not all(isinstance(text, str) for text in texts):
            raise TypeError(self._rule(task, names, value))
        return dict(zip(names, texts))

    def _rule(self, task: TaskDict, names: Sequence[str], value: Any) -> str:
        given = value if isinstance(value, Mapping) else names
        if lacking := [repr(name) for name in names if name not in given]:
            return (
                f"the task {task['name']} reads {' and '.join(names)}: there "
                f"is no {' and no '.join(lacking)} among the fields of "
                f"{value!r:.60}"
            )
        if len(names) == 1:
            return (
                f"the task {task['name']} reads whole texts: each must be a "
                f"string, got {value!r:.60}"
            )
        return (
            f"the task {task['name']} reads {' and '.join(names)}: each "
            f"example must have {len(names)} strings, got {value!r:.60}"
        )

    def asked(self, task: TaskDict) -> tuple[str, ...]:
        """The text features of an example."""
        return tuple(feature.name for feature in inputs(features_of(task)))

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, str]:
        """The line, or, for several texts, its tab-separated parts."""
        names = self.asked(task)
        if len(names) == 1:
            return {names[0]: line}
        texts = line.split("\t")
        if len(texts) != len(names):
            raise TypeError(
                f"the task {task['name']} reads {' and '.join(names)}: a line "
                "must have one tab, which stands between them, got "
                f"{line!r:.60}"
            )
        return self.fields_of(task, texts)

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: list[dict],
        batch_size: int,
    ) -> list[Prediction]:
        """See `PredictionType.predict`."""
        outputs = run.forward(task, as_tensors(examples), batch_size)
        return [
            {"task": task["name"], **self.prediction(task, outputs, number)}
            for number in range(len(examples))
        ]

    @abc.abstractmethod
    def prediction(
        self, task: TaskDict, outputs: Outputs, number: int
    ) -> dict[str, Any]:
        """The prediction for example `number`, as JSON values."""

    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """The column of the target."""
        (target,) = targets(features_of(task))
        return split.columns[target.name].values
