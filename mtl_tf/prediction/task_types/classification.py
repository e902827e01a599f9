"""Classification: a label and the probability of every label."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.probabilities import OneLabel
from mtl_tf.prediction.other_files import format_as_trained
from mtl_tf.prediction.prediction_type import (
    Outputs,
    Prediction,
    TaskDict,
)
from mtl_tf.prediction.text_prediction import TextPrediction
from mtl_tf.tasks.reading.layouts import FORMATS

_KIND = OneLabel()


class ClassPrediction(TextPrediction):
    """`label`, and `scores`, the probability of each label.

    The label is the most probable one. If one label has a fitted threshold,
    that label is predicted from the threshold on, and else the most probable
    other label.
    """

    def decision(
        self, task: TaskDict, targets: Any, outputs: Outputs, wish: Any
    ) -> dict[str, Any]:
        """`decision`: a label and its threshold."""
        if len(task["labels"]) < 2:
            raise ConfigError(
                f"the task {task['name']} has one label alone, "
                f"{wish.label!r}: below a threshold there is no other to give"
            )
        place = list(task["labels"]).index(wish.label)
        scores = np.asarray(outputs["scores"])[:, place]
        labels = np.asarray(targets) == place
        threshold = wish.threshold(task, labels, scores)
        return {"decision": {"label": wish.label, "threshold": threshold}}

    def decided(self, task: TaskDict, outputs: Outputs) -> Outputs:
        """Applies the fitted temperature and the threshold."""
        if "temperature" not in task and "decision" not in task:
            return outputs
        labels = list(task["labels"])
        scores = np.asarray(outputs["scores"])[:, : len(labels)]
        scores = _KIND.tempered(scores, task.get("temperature", 1.0))
        # In float32, as reported and exported, so that both decide alike.
        scores = scores.astype(np.float32)
        chosen = np.asarray(outputs["prediction"])
        if "decision" in task:
            place = labels.index(task["decision"]["label"])
            threshold = np.float32(task["decision"]["threshold"])
            is_above = scores[:, place] >= threshold
            others = np.delete(scores, place, axis=1).argmax(axis=1)
            others += others >= place
            chosen = np.where(is_above, place, others)
        return {**outputs, "scores": scores, "prediction": chosen}

    def prediction(
        self, task: TaskDict, outputs: Outputs, number: int
    ) -> dict[str, Any]:
        """See `TextPrediction.prediction`."""
        labels, scores = task["labels"], outputs["scores"][number]
        return {
            "label": labels[int(outputs["prediction"][number])],
            "scores": {k: float(s) for k, s in zip(labels, scores)},
        }

    def told(self, prediction: Mapping[str, Any]) -> str:
        """The label and its probability."""
        label = prediction["label"]
        return f"{label}  {100 * prediction['scores'][label]:.1f} %"

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads a file like the task's own files, or by the file's ending.

        For a task without files of its own, csv and jsonl have the columns
        `text` and `label`. Other files have lines of `label TAB text`, where
        the label is a name or a number.
        """
        form = format_as_trained(path, entry, FORMATS)
        if entry or form in ("csv", "jsonl"):
            return super().read_file(path, task, {**entry, "format": form})
        from mtl_tf.datasets import lines

        labels = task["labels"]
        numbers = {name: number for number, name in enumerate(labels)}
        by_number = {str(number): number for number in range(len(labels))}
        file = lines.LineFile(path)
        rows = file.labelled({**by_number, **numbers})
        for warning in file.warnings:
            logging.warning("%s", warning)
        return [{"text": text} for text, _ in rows], [n for _, n in rows]

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """Also the losses: those of the right labels' probabilities."""
        names = list(task["labels"])
        scores = [
            [prediction["scores"][name] for name in names]
            for prediction in predictions
        ]
        return {
            "labels": targets,
            "predictions": [
                names.index(prediction["label"]) for prediction in predictions
            ],
            "losses": _KIND.losses(targets, scores),
            "scores": scores,
        }


TYPE = ClassPrediction()
