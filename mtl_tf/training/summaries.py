"""TensorBoard events, with one TensorBoard run per task."""

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.training.callbacks import Callback, Training

_MEAN = "mean"


class TensorBoard(Callback):
    """Writes evaluations to `tensorboard` in the run directory.

    Each task is a separate TensorBoard run there, so one chart shows all tasks.
    The mean is the run `mean`. A task that is itself called `mean` becomes
    `mean (task)`, which is not a valid task name. Every training uses this
    callback.
    """

    def __init__(self):
        self.directory = ""
        self.writers: dict[str, tf.summary.SummaryWriter] = {}

    def on_begin(self, training: Training) -> None:
        """Sets the directory; files are first written at an evaluation."""
        parts = (training.directory, "tensorboard", training.folder)
        self.directory = os.path.join(*parts)
        self.writers = {}

    def _writer(self, name: str) -> tf.summary.SummaryWriter:
        if name not in self.writers:
            path = os.path.join(self.directory, name)
            self.writers[name] = tf.summary.create_file_writer(path)
        return self.writers[name]

    def _task_writer(self, task: str) -> tf.summary.SummaryWriter:
        return self._writer(f"{_MEAN} (task)" if task == _MEAN else task)

    def on_evaluation(self, entry: Mapping[str, Any]) -> None:
        """Writes one entry of `metrics.jsonl`."""
        step = entry["step"]
        for task, loss in entry["train_loss"].items():
            with self._task_writer(task).as_default():
                tf.summary.scalar("train/loss", loss, step)
                weight = entry["loss_weights"][task]
                tf.summary.scalar("train/loss_weight", weight, step)
        for task, scores in entry["validation"]["tasks"].items():
            with self._task_writer(task).as_default():
                for name, value in scores.items():
                    if isinstance(value, (int, float)):
                        tf.summary.scalar(f"validation/{name}", value, step)
                _write_diagnostics(scores, step)
        with self._writer(_MEAN).as_default():
            mean = entry["validation"]["mean"]
            tf.summary.scalar("validation/mean", mean, step)
            _write_diagnostics(entry["validation"], step)
            rate = entry["learning_rate"]
            tf.summary.scalar("train/learning_rate", rate, step)
        for writer in self.writers.values():
            writer.flush()


def _write_diagnostics(scores: Mapping[str, Any], step: int) -> None:
    for name, value in scores.get("diagnostics", {}).items():
        if value is not None:
            tf.summary.scalar(f"diagnostics/{name}", value, step)
