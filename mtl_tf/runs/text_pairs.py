"""Predictions of pairs of texts."""

from collections.abc import Mapping
from typing import Any

from mtl_tf.runs.prediction_type import PredictionType, TaskDict
from mtl_tf.runs.text_prediction import TextPrediction


class PairPrediction(TextPrediction):
    """Predictions of two texts: a mixin before the type of one text."""

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """As the task's own files: there is no short form for pairs."""
        return PredictionType.read_file(self, path, task, entry)
