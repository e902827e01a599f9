"""The scores of the predictions that a run has kept.

`launch.calibrate` changes these, and leaves `results.json` as the training
wrote it. What is shown together has to be of one state.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mtl_tf.evaluation import evaluator, task_types
from mtl_tf.evaluation.scoring import TaskPredictions


def evaluate(
    predictions: Mapping[str, TaskPredictions],
    split: str,
    noted: Mapping[str, Any],
) -> dict[str, Any]:
    """Scores kept predictions, and adds what they do not tell.

    Args:
        predictions: the kept predictions by task.
        split: the name of their split.
        noted: the scores of tasks in `results.json`; {} if the split is not
            there. Yardsticks, diagnostics and the losses of tasks without a
            temperature are from there, and all scores of tasks without
            probabilities, on which nothing is fitted later.

    Returns:
        The structure of `evaluator.evaluate`, tasks in the order of
        `predictions`.
    """
    tasks = {
        name: _of_task(task, split, noted.get(name, {}))
        for name, task in predictions.items()
    }
    return {"split": split, "tasks": tasks, "mean": evaluator.mean(tasks)}


def _of_task(
    task: TaskPredictions, split: str, noted: Mapping[str, Any]
) -> dict[str, Any]:
    kind = task_types.of(task.type).probabilities
    if noted and kind is None:
        return dict(noted)
    scored = evaluator.evaluate([task], split)["tasks"][task.name]
    if "calibration" not in {**noted, **scored}:
        return {**noted, **scored}
    others = {
        name: value
        for name, value in noted.items()
        if name not in ("calibration", "loss")
    }
    if task.scores is not None and len(task.labels):
        probabilities = np.asarray(task.scores)[:, : len(task.class_names)]
        losses = kind.losses(task.labels, probabilities)
        scored["loss"] = float(np.mean(losses))
    return {**others, **scored}
