"""Regression: a number."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.prediction.prediction_type import (
    Outputs,
    Prediction,
    TaskDict,
    as_json,
)
from mtl_tf.prediction.text_prediction import TextPrediction


def as_text(prediction: Mapping[str, Any]) -> str:
    """The number as a line."""
    return f"{prediction['value']:g}\n"


class NumberPrediction(TextPrediction):
    """`value`."""

    outputs = {"prediction": False, "loss": False}
    forms = {"jsonl": as_json, "text": as_text}

    def prediction(
        self, task: TaskDict, outputs: Outputs, number: int
    ) -> dict[str, Any]:
        """See `TextPrediction.prediction`."""
        return {"value": float(outputs["prediction"][number])}

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """See `PredictionType.scored`."""
        return {
            "labels": targets,
            "predictions": [prediction["value"] for prediction in predictions],
        }


TYPE = NumberPrediction()
