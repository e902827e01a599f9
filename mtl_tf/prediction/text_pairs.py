"""Predictions for pairs of texts."""

from collections.abc import Mapping
from typing import Any

from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.prediction.prediction_type import PredictionType, TaskDict
from mtl_tf.prediction.text_prediction import TextPrediction
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import inputs
from mtl_tf.tasks.task import Task


class PairPrediction(TextPrediction):
    """A mixin for predictions on two texts, before the single-text type."""

    def inputs(self, task: Task, split: str) -> list[dict[str, str]]:
        """Both texts of the examples, by name."""
        names = [feature.name for feature in inputs(task.features)]
        batches = fixed(batched(task.dataset(split)))
        return [
            {n: t.decode("utf-8", "replace") for n, t in zip(names, texts)}
            for batch in batches
            for texts in zip(*(batch[name].numpy() for name in names))
        ]

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads a file like the task's own; pairs have no short form."""
        return PredictionType.read_file(self, path, task, entry)
