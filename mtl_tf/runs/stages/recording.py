"""Writes, logs and reports the evaluations of a stage."""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.evaluation.tables import score_format
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.stages.stage_plan import Stage
from mtl_tf.tasks.task import Task
from mtl_tf.training.callbacks import Callback, Training


class Recorder:
    """Writes `metrics.jsonl`, logs a line and calls the callbacks.

    Args:
        run: the run directory.
        config: the resolved config.
        tasks: the run's tasks.
        callbacks: called as well.
    """

    def __init__(
        self,
        run: RunDirectory,
        config: Mapping[str, Any],
        tasks: Sequence[Task],
        callbacks: Sequence[Callback],
    ):
        self.run, self.config = run, config
        self.tasks, self.callbacks = tasks, callbacks

    def begin(self, stage: Stage, step: int, total_steps: int) -> None:
        """Reports that a stage begins at `step`."""
        training = Training(
            self.run.path,
            self.config,
            stage.name,
            stage.folder,
            step,
            total_steps,
        )
        for callback in self.callbacks:
            callback.on_begin(training)

    def step(self, step: int, loss: float) -> None:
        """Reports that steps are done; see `Callback.on_step`."""
        for callback in self.callbacks:
            callback.on_step(step, loss)

    def evaluation(
        self, stage: Stage, rate: float, entry: Mapping[str, Any]
    ) -> None:
        """Reports the scores of the validation splits.

        Args:
            stage: the stage in training.
            rate: its current learning rate.
            entry: the entry of the training loop.
        """
        entry = {"stage": stage.name, **entry, "learning_rate": rate}
        self.run.append_metrics(entry)
        self._log(stage, entry)
        for callback in self.callbacks:
            callback.on_evaluation(entry)

    def _log(self, stage: Stage, entry: Mapping[str, Any]) -> None:
        scores = entry["validation"]
        names = [self.tasks[n].name for n in stage.tasks]
        only_some = len(stage.main) < len(stage.tasks)
        primary = [self.tasks[n].metrics[0] for n in stage.tasks]
        logging.info(
            "%s step %d validation mean%s %.2f: %s%s",
            stage.name,
            entry["step"],
            " of the main tasks" if only_some else "",
            scores["mean"],
            " ".join(
                f"{name} {scores['tasks'][name][metric]:.1f}"
                for name, metric in zip(names, primary)
            ),
            "".join(
                f"; {name} {score_format.diagnostic(value)}"
                for name, value in scores.get("diagnostics", {}).items()
                if value is not None
            ),
        )
