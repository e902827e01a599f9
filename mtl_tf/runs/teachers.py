"""Gets the predictions of a run's teachers, once, for all training texts.

Teachers are trained runs, and files of probabilities. Several are averaged, as
in `launch.ensemble` (Hinton et al. 2015, section 3, distil such ensembles). The
predictions are saved in the run's folder `teachers`. So a resumed run no longer
needs its teachers and trains to the same weights. Until they are complete they
are in `teachers.begun`, from which a killed run resumes.
"""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.directories import Directories
from mtl_tf.core.durations import duration
from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.pipelines.unlabelled import unlabelled_texts
from mtl_tf.runs.data import (
    encoded_cache,
    probability_files,
    run_data,
    soft_targets,
)
from mtl_tf.runs.data.probability_files import Table
from mtl_tf.runs.directory import seals
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.teacher_kinds import FIELD, Weighted, teachers_of
from mtl_tf.tasks.task import SPLITS, Task

_BEGUN = "teachers.begun"


def prepare(
    config: Mapping[str, Any],
    run: RunDirectory,
    directories: Directories,
) -> None:
    """Saves the predictions of a run's teachers, unless they exist.

    Args:
        config: the run's config.
        run: its directory, which it has claimed.
        directories: where data are.

    Raises:
        ConfigError: something is no teacher, or has other labels, or knows no
            task of the run with probabilities; or unlabelled texts cannot be
            trained on.
        RunError: a teacher's files are missing or damaged.
    """
    paths = config["training"]["teachers"]
    begun = run.file(_BEGUN)
    if not paths or run.has(soft_targets.FOLDER):
        if os.path.isdir(begun):  # Killed after all predictions were made.
            seals.seal(run, soft_targets.FOLDER)
            shutil.rmtree(begun)
        return
    tasks = run_data.tasks_of(config, directories)
    teachers = [teacher for path in paths for teacher in teachers_of(path)]
    unlabelled = config["training"]["distillation"]["unlabelled"]
    known = [t for t in tasks if _can_be_taught(t, teachers, paths)]
    if not known:
        raise ConfigError(
            f"{FIELD}: of no task of this run "
            f"({', '.join(task.name for task in tasks)}) {', '.join(paths)} "
            "know the probabilities of whole examples' labels"
        )
    if unlabelled in SPLITS:
        raise ConfigError(
            f"training.distillation.unlabelled must name a split of texts that "
            f"nobody has labelled, got {unlabelled!r}"
        )
    # Before the teachers, which may take hours.
    soft_targets.check_storage(config, encoded_cache.on_disk(config, tasks))
    having = [t for t in known if unlabelled and t.has_split(unlabelled)]
    if unlabelled and not having:
        raise ConfigError(
            f"training.distillation.unlabelled: no task has a split "
            f"{unlabelled!r}; of files of your own it is files.{unlabelled}"
        )
    texts = _unlabelled(tasks, having, unlabelled)
    folder = _begin(begun, teachers)
    questions = [
        *((folder, t, probability_files.dataset_of(t, "train")) for t in known),
        *(
            (os.path.join(folder, soft_targets.UNLABELLED), t, texts[t.name])
            for t in having
        ),
    ]
    _ask(teachers, questions)
    os.rename(folder, run.file(soft_targets.FOLDER))
    seals.seal(run, soft_targets.FOLDER)
    shutil.rmtree(begun)
    # So that teachers' layers do not affect the names of the student's.
    keras.backend.clear_session()


def _can_be_taught(
    task: Task, teachers: Sequence[Weighted], paths: Sequence[str]
) -> bool:
    if not any(member.teacher.knows(task) for member in teachers):
        logging.warning(
            "None of the teachers (%s) knows the task %s: it is trained on its "
            "labels alone.",
            ", ".join(paths),
            task.name,
        )
        return False
    if scoring.of(task.type).probabilities is None:
        logging.warning(
            "The task %s is of the type %s, which has no probabilities of "
            "whole examples to learn from: it is trained on its labels alone.",
            task.name,
            task.type,
        )
        return False
    return True


def _unlabelled(
    tasks: Sequence[Task], having: Sequence[Task], split: str
) -> dict[str, tf.data.Dataset]:
    """The unlabelled texts by task, read once for all teachers.

    Raises:
        ConfigError: a task has none left.
    """
    if not having:
        return {}
    held_back = unlabelled_texts.held_back(tasks)
    datasets = {}
    for task in having:
        texts = unlabelled_texts.read(task, split, held_back)
        left = len(next(iter(texts.texts.values())))
        if not left:
            raise ConfigError(
                f"training.distillation.unlabelled: all {texts.left_out} texts "
                f"of the split {split!r} of {task.name} also occur in "
                "validation or test splits, so training must not use them: "
                "name other texts, or leave the split out"
            )
        logging.info(
            "%s: %s texts without labels%s; left out: %s that also occur in "
            "validation or test splits",
            task.name,
            f"{left:,}",
            " (spaced as in the treebank)" * bool(texts.spaced),
            f"{texts.left_out:,}",
        )
        datasets[task.name] = unlabelled_texts.dataset(texts.texts)
    return datasets


def _begin(begun: str, teachers: Sequence[Weighted]) -> str:
    """The folder of predictions, which holds those of these teachers only.

    Args:
        begun: its parent folder.
        teachers: the teachers.
    """
    path = os.path.join(begun, "asked.json")
    marks = [[member.weight, *member.teacher.mark()] for member in teachers]
    if not os.path.exists(path) or files.read_json(path) != marks:
        if os.path.isdir(begun):
            logging.info("The teachers have changed: asking them anew.")
            shutil.rmtree(begun)
        files.make_directory(begun)
        files.write_json(path, marks)
    return files.make_directory(os.path.join(begun, "answers"))


def _ask(
    teachers: Sequence[Weighted],
    questions: Sequence[tuple[str, Task, tf.data.Dataset]],
) -> None:
    """Saves the missing predictions for examples of tasks in folders."""
    began, answered = time.monotonic(), 0
    for number, (folder, task, examples) in enumerate(questions):
        keys = np.concatenate(
            [
                probability_files.keys_of(part)
                for part in probability_files.batches(task, examples)
            ]
        )
        if _has_answers(folder, task, keys):
            continue
        left = ""
        if answered:
            seconds = (time.monotonic() - began) / answered
            left = f", {duration(seconds * (len(questions) - number))} left"
        unlabelled = os.path.basename(folder) == soft_targets.UNLABELLED
        logging.info(
            "Asking %d teacher%s about %s texts of %s%s (%d of %d%s).",
            len(teachers),
            "s" * (len(teachers) > 1),
            f"{len(keys):,}",
            task.name,
            " without labels" * unlabelled,
            number + 1,
            len(questions),
            left,
        )
        table = _asked(teachers, task, examples, keys)
        probability_files.write(folder, task.name, table)
        answered += 1


def _has_answers(folder: str, task: Task, keys: np.ndarray) -> bool:
    """Whether these texts' predictions were saved before a kill."""
    if not os.path.exists(probability_files.path_of(folder, task.name)):
        return False
    known = probability_files.read(folder, task.name)
    return known.labels == tuple(task.labels) and np.array_equal(
        known.keys, keys
    )


def _asked(
    teachers: Sequence[Weighted],
    task: Task,
    examples: tf.data.Dataset,
    keys: np.ndarray,
) -> Table:
    """The mean of the teachers' predictions for examples."""
    mean, total = 0.0, 0.0
    for teacher, weight in teachers:
        if weight and teacher.knows(task):
            mean = mean + weight * teacher.scores(task, examples)
            total += weight
    return Table(keys, mean / total, tuple(task.labels))
