"""The teachers of a run: trained runs, and files of probabilities."""

import glob
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs.data import probability_files, soft_targets
from mtl_tf.runs.data.probability_files import Table
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.directory.run_folders import runs_of
from mtl_tf.runs.loaded import loaded_ensemble, loading
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.tasks.task import Task

#: The config field that names the teachers.
FIELD = "training.teachers"


class Teacher(Protocol):
    """Predicts the label probabilities of texts."""

    def knows(self, task: Task) -> bool:
        """Whether it was trained on the task."""

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """Probabilities [n, labels], labels in the task's order."""

    def mark(self) -> list[Any]:
        """A JSON value that changes if the teacher changes."""


class Weighted(NamedTuple):
    """A teacher and its weight."""

    teacher: Teacher
    weight: float


def teachers_of(path: str) -> Iterator[Weighted]:
    """The teachers of an item of `training.teachers`.

    Their weights sum to 1.

    Raises:
        ConfigError: the item is no teacher.
        RunError: a folder or a file cannot be read.
    """
    if os.path.isfile(path):
        results = files.read_json(path)
        named = f"{FIELD}: {path}"
        members = loaded_ensemble.members_of(results, named)
        loaded_ensemble.check_unchanged(results["members"], named)
        for run, weight in members:
            yield Weighted(_of_run(run), weight)
        return
    if not os.path.isdir(path):
        raise ConfigError(f"{FIELD}: {path} does not exist")
    if any(name.endswith(".npz") for name in os.listdir(path)):
        yield Weighted(FileTeacher(path), 1.0)
        return
    runs = runs_of(path)
    for run in runs:
        yield Weighted(_of_run(run), 1.0 / len(runs))


def _of_run(path: str) -> Teacher:
    """A run that predicts itself, or a baseline's saved probabilities."""
    directory = RunDirectory(path)
    if "baseline" not in directory.read("config.json"):
        return RunTeacher(path)
    if not directory.has(probability_files.FOLDER):
        raise ConfigError(
            f"{FIELD}: {path} is a baseline, which keeps no model to ask: "
            "let launch.baseline keep its answers by --probabilities_of=train "
            "and the name of the split without labels, in another --model_dir, "
            "or name the folder of launch.ensemble --save_probabilities"
        )
    return FileTeacher(directory.file(probability_files.FOLDER))


class FileTeacher:
    """Files of probabilities, from an ensemble or a baseline.

    Also the folder `teachers` of another run, with its teachers' predictions.

    Args:
        folder: the files' folder.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def knows(self, task: Task) -> bool:
        """Whether there is a file for the task."""
        return os.path.exists(
            probability_files.path_of(self._folder, task.name)
        )

    def mark(self) -> list[Any]:
        """See `Teacher`."""
        return _times(self._folder, "**/*.npz")

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """See `Teacher`.

        Raises:
            ConfigError: it has other labels, or lacks texts.
        """
        table = self._table(task)
        scores = []
        for part in probability_files.batches(task, examples):
            keys = probability_files.keys_of(part)
            rows, known = probability_files.looked_up(table, keys)
            if not known.all():
                raise ConfigError(
                    f"{FIELD}: {self._folder} lacks {np.sum(~known)} of "
                    f"{len(known)} texts of {task.name} that are trained on, "
                    "labelled or not: files are of the texts that their runs "
                    "were trained on, those of a baseline of the splits that "
                    "--probabilities_of named; for other texts name the runs "
                    "themselves"
                )
            scores.append(table.scores[rows])
        return np.concatenate(scores)

    def _table(self, task: Task) -> Table:
        """The probabilities for a task, with labels in its order."""
        unlabelled = os.path.join(self._folder, soft_targets.UNLABELLED)
        parts = []
        for folder in (self._folder, unlabelled):
            path = probability_files.path_of(folder, task.name)
            if not os.path.exists(path):
                continue
            part = probability_files.read(folder, task.name)
            try:
                scores = probability_files.in_order(part, task.labels)
            except ConfigError as error:
                raise ConfigError(f"{FIELD}: {path}: {error}") from error
            parts.append((part.keys, scores))
        keys, scores = map(np.concatenate, zip(*parts))
        return Table(keys, scores, tuple(task.labels))


class RunTeacher:
    """A trained run, or one with a model for each task.

    Args:
        path: the run's directory.
    """

    def __init__(self, path: str):
        self._directory = RunDirectory(path)
        self._path = path
        self._loaded: tuple[str, Run] | None = None

    def _place(self, task: Task) -> str:
        """The directory of the run that may know the task."""
        alone = self._directory.file("tasks", task.name)
        return alone if self._directory.has("tasks") else self._path

    def knows(self, task: Task) -> bool:
        """Whether the run has a task of that name."""
        place = RunDirectory(self._place(task))
        if not place.has("labels.json"):
            return False
        tasks = place.read("labels.json")["tasks"]
        return task.name in [described["name"] for described in tasks]

    def mark(self) -> list[Any]:
        """See `Teacher`."""
        return _times(self._path, "**/best.json", "**/fitted.json")

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """See `Teacher`.

        Raises:
            ConfigError: the run has other labels for the task.
        """
        place = self._place(task)
        if self._loaded is None or self._loaded[0] != place:
            self._loaded = place, loading.load(place)
        run = self._loaded[1]
        described = run.tasks[run.task_index(task.name)]
        labels = tuple(described["labels"])
        if described["type"] != task.type or set(labels) != set(task.labels):
            raise ConfigError(
                f"{FIELD}: {place} knows {task.name} as {described['type']} "
                f"with the labels {', '.join(labels)}, but here it is "
                f"{task.type} with {', '.join(task.labels)}"
            )
        run.weights_for(task.name)
        order = [labels.index(label) for label in task.labels]
        return np.concatenate(
            [
                np.asarray(run.forward(described, part)["scores"])[:, order]
                for part in probability_files.batches(task, examples)
            ]
        )


def _times(folder: str, *patterns: str) -> list[Any]:
    """A folder, and the modification times of its matching files."""
    folder = os.path.abspath(folder)
    times = [
        os.stat(path).st_mtime_ns
        for pattern in patterns
        for path in glob.iglob(
            os.path.join(glob.escape(folder), pattern), recursive=True
        )
    ]
    return [folder, *sorted(times)]
