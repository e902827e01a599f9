"""The models of a training with one for each task, ready to be asked."""

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import RunError
from mtl_tf.evaluation import evaluator
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.prediction.example_predictions import ExamplePredictions
from mtl_tf.prediction.predicting_run import TaskDict
from mtl_tf.runs.directory import run_weights
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.loaded import loading
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.tasks import registry


@dataclasses.dataclass(frozen=True, repr=False)
class SingleRuns(ExamplePredictions):
    """A run with `train_separately`: a model for each task.

    It predicts and is scored as a run of all tasks.

    Attributes:
        directory: the run directory.
        members: the run of each task, by name.
    """

    directory: RunDirectory
    members: Mapping[str, Run]

    def __repr__(self) -> str:
        return f"<runs {self.directory.path}: {self._told_tasks()}>"

    @property
    def config(self) -> dict[str, Any]:
        """The config of all tasks."""
        return self.directory.read("config.json")

    @property
    def tasks(self) -> list[TaskDict]:
        """The description of each task, as its run has it."""
        return [task for run in self.runs for task in run.tasks]

    @property
    def results(self) -> dict[str, Any]:
        """The contents of `results.json`; see `RunDirectory.results`."""
        return self.directory.results()

    @property
    def runs(self) -> list[Run]:
        """The runs of single tasks."""
        return list(self.members.values())

    def run_of(self, task: str) -> Run:
        """The run of a task.

        Raises:
            ConfigError: there is no such task.
        """
        return self.runs[self.task_index(task)]

    def score(self, task: str, examples: Iterable[Any]) -> list[dict[str, Any]]:
        """See `Run.score`."""
        return self.run_of(task).score(task, examples)

    def inputs(
        self,
        task: str,
        split: str = "test",
        data_dir: str | None = None,
        manual_dir: str | None = None,
    ) -> list[Any]:
        """See `Run.inputs`."""
        return self.run_of(task).inputs(task, split, data_dir, manual_dir)

    def _predicted(
        self, task: TaskDict, fields: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        return self.run_of(task["name"])._predicted(task, fields, batch_size)

    def _evaluated(
        self,
        split: str,
        tasks: Sequence[str] | None,
        data_dir: str | None,
        manual_dir: str | None,
        clean: CleanParts | None,
        predictions_dir: str | None,
        keep: bool,
    ) -> dict[str, Any]:
        names = [tasks] if isinstance(tasks, str) else tasks or [*self.members]
        runs = [self.run_of(name) for name in names]
        if clean is None:
            clean = CleanParts.of_config(self.config, data_dir, manual_dir)
        scores: dict[str, Any] = {}
        for run in runs:
            scores |= run.evaluate(
                split,
                None,
                data_dir,
                manual_dir,
                clean,
                predictions_dir,
                keep,
            )["tasks"]
        return {
            "split": split,
            "tasks": scores,
            "mean": evaluator.mean(scores),
        }


def load(
    directory: RunDirectory,
    decoding: Mapping[str, Any] | None = None,
    weights: str = run_weights.BEST,
) -> SingleRuns:
    """Loads the models of single tasks.

    Args:
        directory: the directory of a run with `train_separately`.
        decoding, weights: as in `loading.load`.

    Raises:
        RunError: the training has not begun with one of the tasks yet.
        MtlError: as in `loading.load`.
    """
    members = {}
    entries = directory.read("config.json")["tasks"]
    for name in map(registry.name_of, registry.single_entries(entries)):
        folder = directory.file("tasks", name)
        if not os.path.isdir(folder):
            raise RunError(
                f"{directory.path} has no model of the task {name} yet: the "
                "same training again (launch.train) brings it to its end. "
                f"Until then, name one of {directory.file('tasks')}/*"
            )
        members[name] = loading.load(folder, decoding, weights)
    return SingleRuns(directory, members)
