"""Multi-label: the labels above their thresholds, and all probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.evaluation.probabilities import AnyLabels
from mtl_tf.evaluation.thresholds import (
    HALF,
    best_threshold,
    micro_thresholds,
)
from mtl_tf.prediction.prediction_type import (
    Outputs,
    Prediction,
    TaskDict,
    as_json,
)
from mtl_tf.prediction.text_prediction import TextPrediction

_KIND = AnyLabels()


def as_text(prediction: Mapping[str, Any]) -> str:
    """The labels as a line, separated by commas."""
    return f"{','.join(prediction['labels'])}\n"


class LabelSetPrediction(TextPrediction):
    """`labels`, those whose `scores` reach their thresholds.

    The thresholds maximise micro F1 on the validation examples if that is the
    task's primary metric, else the F1 of each label. `fitted.json` holds them
    by label. A label that no validation example has keeps 0.5.
    """

    fits = several_thresholds = True
    forms = {"jsonl": as_json, "text": as_text}

    def fit(self, task: TaskDict, targets: Any, outputs: Outputs) -> dict:
        """`thresholds`, by label."""
        names = task["labels"]
        scores = np.asarray(outputs["scores"])[:, : len(names)]
        labels = np.asarray(targets)[:, : len(names)] > 0
        if task.get("metrics", ("",))[0] == "micro_f1":
            thresholds = micro_thresholds(labels, scores)
        else:
            thresholds = [
                best_threshold(*column) for column in zip(labels.T, scores.T)
            ]
        return {"thresholds": dict(zip(names, thresholds))}

    def decision(
        self, task: TaskDict, targets: Any, outputs: Outputs, wish: Any
    ) -> dict[str, Any]:
        """`thresholds` with the one that the user asks for."""
        place = list(task["labels"]).index(wish.label)
        labels = np.asarray(targets)[:, place] > 0
        scores = np.asarray(outputs["scores"])[:, place]
        threshold = wish.threshold(task, labels, scores)
        return {"thresholds": {**task["thresholds"], wish.label: threshold}}

    def decided(self, task: TaskDict, outputs: Outputs) -> Outputs:
        """Predicts labels by their thresholds, or 0.5 without them."""
        scores = np.asarray(outputs["scores"])[:, : len(task["labels"])]
        if "temperature" in task:
            scores = _KIND.tempered(scores, task["temperature"])
            scores = scores.astype(np.float32)
        chosen = scores >= thresholds_of(task)
        return {**outputs, "scores": scores, "prediction": chosen.astype(int)}

    def prediction(
        self, task: TaskDict, outputs: Outputs, number: int
    ) -> dict[str, Any]:
        """See `TextPrediction.prediction`."""
        chosen, scores = outputs["prediction"][number], outputs["scores"]
        labels = task["labels"]
        return {
            "labels": [name for name, has in zip(labels, chosen) if has],
            "scores": {n: float(s) for n, s in zip(labels, scores[number])},
        }

    def told(self, prediction: Mapping[str, Any]) -> str:
        """The labels and their probabilities."""
        scores = prediction["scores"]
        return (
            ", ".join(
                f"{label}  {100 * scores[label]:.1f} %"
                for label in prediction["labels"]
            )
            or "(no label)"
        )

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """Also the losses, from the probabilities of all labels."""
        names = task["labels"]
        scores = [
            [prediction["scores"][name] for name in names]
            for prediction in predictions
        ]
        return {
            "labels": targets,
            "predictions": [
                [int(name in prediction["labels"]) for name in names]
                for prediction in predictions
            ],
            "losses": _KIND.losses(targets, scores),
            "scores": scores,
        }


def thresholds_of(task: TaskDict) -> np.ndarray:
    """The threshold of each label of a task, float32 [labels]."""
    thresholds = task.get("thresholds", {})
    values = [thresholds.get(name, HALF) for name in task["labels"]]
    return np.array(values, np.float32)


TYPE = LabelSetPrediction()
