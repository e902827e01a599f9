"""Asks a run's teachers, once, about all texts that it trains on.

Teachers are trained runs, and files of probabilities; several are averaged, as
`launch.ensemble` does (Hinton et al. 2015, section 3, distil such ensembles).
What they say is written into the run's folder `teachers`, so that a run which
continues needs its teachers no more and trains to the same weights.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.pipelines import unlabelled_texts
from mtl_tf.runs import (
    encoded_cache,
    loaded_run,
    probability_files,
    run_data,
    seals,
    soft_targets,
)
from mtl_tf.runs.probability_files import Table
from mtl_tf.runs.run_directory import RunDirectory
from mtl_tf.runs.run_folders import runs_of
from mtl_tf.tasks.task import SPLITS, Task

_FIELD = "training.teachers"


class Teacher(Protocol):
    """What knows the probabilities of labels of texts."""

    def knows(self, task: Task) -> bool:
        """Whether it has been taught the task."""

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """Probabilities [n, labels], labels in the task's order."""


class Weighted(NamedTuple):
    """A teacher and how much it counts."""

    teacher: Teacher
    weight: float


def prepare(
    config: Mapping[str, Any],
    run: RunDirectory,
    where: tuple[str | None, str | None],
) -> None:
    """Writes what a run's teachers say, unless it is there.

    Args:
        config: the run's.
        run: its directory, which it has claimed.
        where: `data_dir` and `manual_dir`.

    Raises:
        ConfigError: a teacher that is none, that knows other labels, or that
            knows no task of the run with probabilities; texts without labels
            that cannot be trained on.
        RunError: a teacher's files are missing or damaged.
    """
    given = config["training"]["teachers"]
    if not given or run.has(soft_targets.FOLDER):
        return
    tasks = run_data.tasks_of(config, where)
    teachers = [one for path in given for one in teachers_of(path)]
    unlabelled = config["training"]["distillation"]["unlabelled"]
    known = [t for t in tasks if _can_be_taught(t, teachers, given)]
    if not known:
        raise ConfigError(
            f"{_FIELD}: of no task of this run "
            f"({', '.join(task.name for task in tasks)}) {', '.join(given)} "
            "know the probabilities of whole examples' labels"
        )
    if unlabelled in SPLITS:
        raise ConfigError(
            f"training.distillation.unlabelled must name a split of texts that "
            f"nobody has labelled, got {unlabelled!r}"
        )
    # Teachers may take hours.
    soft_targets.check_storage(config, encoded_cache.on_disk(config, tasks))
    having = [t for t in known if unlabelled and t.has_split(unlabelled)]
    if unlabelled and not having:
        raise ConfigError(
            f"training.distillation.unlabelled: no task has a split "
            f"{unlabelled!r}; of files of your own it is files.{unlabelled}"
        )
    texts = _unlabelled(tasks, having, unlabelled)
    with files.new_directory(run.file(soft_targets.FOLDER)) as folder:
        for task in known:
            logging.info(
                "Asking %d teachers about %s.", len(teachers), task.name
            )
            examples = probability_files.dataset_of(task, "train")
            probability_files.write(
                folder, task.name, _asked(teachers, task, examples)
            )
        for task in having:
            probability_files.write(
                os.path.join(folder, soft_targets.UNLABELLED),
                task.name,
                _asked(teachers, task, texts[task.name]),
            )
    seals.seal(run, soft_targets.FOLDER)
    # Layers of the teachers must not count in the names of the student's.
    keras.backend.clear_session()


def _can_be_taught(
    task: Task, teachers: Sequence[Weighted], given: Sequence[str]
) -> bool:
    if not any(one.teacher.knows(task) for one in teachers):
        logging.warning(
            "None of the teachers (%s) knows the task %s: it is trained on its "
            "labels alone.",
            ", ".join(given),
            task.name,
        )
        return False
    if scoring.of(task.type).probabilities is None:
        logging.warning(
            "The task %s is of the type %s, which has no probabilities of "
            "whole examples to learn from: it is trained on its labels alone.",
            *(task.name, task.type),
        )
        return False
    return True


def _unlabelled(
    tasks: Sequence[Task], having: Sequence[Task], split: str
) -> dict[str, tf.data.Dataset]:
    """The texts without labels, read once for all teachers, by task.

    Raises:
        ConfigError: none is left of a task's.
    """
    if not having:
        return {}
    held_back = unlabelled_texts.held_back(tasks)
    found = {}
    for task in having:
        texts = unlabelled_texts.read(task, split, held_back)
        left = len(next(iter(texts.texts.values())))
        if not left:
            raise ConfigError(
                f"training.distillation.unlabelled: all {texts.left_out} texts "
                f"of the split {split!r} of {task.name} stand in validation or "
                "test splits, and may not be trained on: name other texts, or "
                "leave the split out"
            )
        logging.info(
            "%s: %s texts without labels%s; %s that stand in validation or "
            "test splits left out",
            task.name,
            f"{left:,}",
            " (spaced as in the treebank)" * bool(texts.spaced),
            f"{texts.left_out:,}",
        )
        found[task.name] = unlabelled_texts.dataset(texts.texts)
    return found


def _asked(
    teachers: Sequence[Weighted], task: Task, examples: tf.data.Dataset
) -> Table:
    """The mean of what the teachers say of examples."""
    keys = [
        probability_files.keys_of(part)
        for part in probability_files.batches(task, examples)
    ]
    mean, total = 0.0, 0.0
    for teacher, weight in teachers:
        if weight and teacher.knows(task):
            mean = mean + weight * teacher.scores(task, examples)
            total += weight
    return Table(np.concatenate(keys), mean / total, tuple(task.labels))


def teachers_of(path: str) -> Iterator[Weighted]:
    """The teachers that an item of `training.teachers` stands for.

    Their weights sum to 1.

    Raises:
        ConfigError: it is none of what there can be.
        RunError: a folder or a file cannot be read.
    """
    if os.path.isfile(path):
        members = _members(path)
        total = sum(weight for _, weight in members)
        for member, weight in members:
            if weight:
                yield Weighted(_of_run(member), weight / total)
        return
    if not os.path.isdir(path):
        raise ConfigError(f"{_FIELD}: {path} does not exist")
    if any(name.endswith(".npz") for name in os.listdir(path)):
        yield Weighted(FileTeacher(path), 1.0)
        return
    runs = runs_of(path)
    for one in runs:
        yield Weighted(_of_run(one), 1.0 / len(runs))


def _of_run(path: str) -> Teacher:
    """A run that answers by itself, or a baseline's kept probabilities."""
    directory = RunDirectory(path)
    if "baseline" not in directory.read("config.json"):
        return RunTeacher(path)
    if not directory.has(probability_files.FOLDER):
        raise ConfigError(
            f"{_FIELD}: {path} is a baseline, which keeps no model to ask: "
            "let launch.baseline keep its answers by --probabilities_of=train "
            "and the name of the split without labels, in another --model_dir, "
            "or name the folder of launch.ensemble --save_probabilities"
        )
    return FileTeacher(directory.file(probability_files.FOLDER))


def _members(path: str) -> list[tuple[str, float]]:
    """The runs of an ensemble's file with their weights."""
    value = files.read_json(path)
    try:
        found = [
            (str(one["directory"]), float(one["weight"]))
            for one in value["members"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"{_FIELD}: {path} must be what launch.ensemble --output wrote: "
            f"{error!r}"
        )
    if not any(weight > 0 for _, weight in found):
        raise RunError(f"{_FIELD}: {path} has no member with a weight above 0")
    return found


class FileTeacher:
    """Files of probabilities, of an ensemble or of a baseline.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def knows(self, task: Task) -> bool:
        """Whether there is a file of the task."""
        return os.path.exists(
            probability_files.path_of(self._folder, task.name)
        )

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """See `Teacher`.

        Raises:
            ConfigError: it has other labels, or lacks texts.
        """
        table = probability_files.read(self._folder, task.name)
        try:
            ordered = probability_files.in_order(table, task.labels)
        except ConfigError as error:
            path = probability_files.path_of(self._folder, task.name)
            raise ConfigError(f"{_FIELD}: {path}: {error}") from error
        found = []
        for part in probability_files.batches(task, examples):
            keys = probability_files.keys_of(part)
            rows, known = probability_files.looked_up(table, keys)
            if not known.all():
                raise ConfigError(
                    f"{_FIELD}: {self._folder} lacks {np.sum(~known)} of "
                    f"{len(known)} texts of {task.name} that are trained on, "
                    "labelled or not: files are of the texts that their runs "
                    "were trained on, those of a baseline of the splits that "
                    "--probabilities_of named; for other texts name the runs "
                    "themselves"
                )
            found.append(ordered[rows])
        return np.concatenate(found)


class RunTeacher:
    """A trained run, or one of a model for each task.

    Args:
        path: its directory.
    """

    def __init__(self, path: str):
        self._directory = RunDirectory(path)
        self._path = path
        self._loaded: tuple[str, loaded_run.Run] | None = None

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
        return task.name in [one["name"] for one in tasks]

    def scores(self, task: Task, examples: tf.data.Dataset) -> np.ndarray:
        """See `Teacher`.

        Raises:
            ConfigError: the run knows the task with other labels.
        """
        place = self._place(task)
        if self._loaded is None or self._loaded[0] != place:
            self._loaded = place, loaded_run.load(place)
        run = self._loaded[1]
        described = run.tasks[run.task_index(task.name)]
        labels = tuple(described["labels"])
        if described["type"] != task.type or set(labels) != set(task.labels):
            raise ConfigError(
                f"{_FIELD}: {place} knows {task.name} as {described['type']} "
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
