"""TensorBoard events, one series of runs per task."""

import os
from typing import Any

import tensorflow as tf


class Summaries:
    """Writes the entries of a run's evaluations for TensorBoard.

    Every task is a TensorBoard run of its own below `directory`, so that one
    chart shows all tasks; the mean is the run `mean`.
    """

    def __init__(self, directory: str):
        self.directory = directory
        self.writers: dict[str, tf.summary.SummaryWriter] = {}

    def _writer(self, name: str) -> tf.summary.SummaryWriter:
        if name not in self.writers:
            path = os.path.join(self.directory, name.replace("/", "_"))
            self.writers[name] = tf.summary.create_file_writer(path)
        return self.writers[name]

    def write(self, entry: dict[str, Any]) -> None:
        """Writes one entry of `metrics.jsonl`."""
        step = entry["step"]
        for task, loss in entry["train_loss"].items():
            with self._writer(task).as_default():
                tf.summary.scalar("train/loss", loss, step)
                weight = entry["loss_weights"][task]
                tf.summary.scalar("train/loss_weight", weight, step)
        for task, scores in entry["validation"]["tasks"].items():
            with self._writer(task).as_default():
                for name, value in scores.items():
                    if isinstance(value, (int, float)):
                        tf.summary.scalar(f"validation/{name}", value, step)
                _write_diagnostics(scores, step)
        with self._writer("mean").as_default():
            mean = entry["validation"]["mean"]
            tf.summary.scalar("validation/mean", mean, step)
            _write_diagnostics(entry["validation"], step)
            for name in ("learning_rate",):
                if name in entry:
                    tf.summary.scalar(f"train/{name}", entry[name], step)
        for writer in self.writers.values():
            writer.flush()


def _write_diagnostics(scores: dict[str, Any], step: int) -> None:
    for name, value in scores.get("diagnostics", {}).items():
        if value is not None:
            tf.summary.scalar(f"diagnostics/{name}", value, step)
