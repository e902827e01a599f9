"""The weights that a run predicts with: the best or the newest."""

import os

import keras
from absl import logging

from mtl_tf.core.errors import RunError
from mtl_tf.runs.directory.run_directory import RunDirectory, no_weights
from mtl_tf.training.checkpoints.saved_weights import BestWeights, LastState

BEST, LAST = "best", "last"
CHOICES = (BEST, LAST)
_PER_TASK = "best_per_task"


def check(directory: RunDirectory, choice: str) -> None:
    """Raises `RunError` if a run lacks the chosen weights."""
    has_best = BestWeights.exist(directory.file("best"))
    if LastState.exist(directory.path) if choice == LAST else has_best:
        return
    if has_best:
        raise RunError(
            f"{directory.path} has its best weights alone: its checkpoints, "
            "which hold the last ones, are not there"
        )
    raise RunError(f"{directory.path} has {no_weights(directory)}")


def folder_of_task(task: str) -> str:
    """Where a run directory has the weights that were best for a task."""
    return os.path.join(_PER_TASK, task, BEST)


def folder_for(directory: RunDirectory, choice: str, task: str) -> str:
    """The folder of the weights for a task, fine-tuned or its own if any."""
    own = (("fine_tuned", task), ("fine_tuned",), (_PER_TASK, task))
    for parts in (*own, ()):
        stage = directory.file(*parts)
        if choice == LAST:
            folder, is_there = LastState.folder(stage), LastState.exist(stage)
        else:
            folder = os.path.join(stage, "best")
            is_there = BestWeights.exist(folder)
        if is_there:
            break
    return folder


def load(
    folder: str, choice: str, model: keras.Model, is_averaged: bool
) -> None:
    """Loads weights into a model.

    Args:
        folder: a folder from `folder_for`.
        choice: one of `CHOICES`.
        model: the model that gets them.
        is_averaged: whether the best weights are averages of several steps.

    Raises:
        RunError: they are missing or unreadable.
    """
    if choice == BEST:
        BestWeights(folder, model).load()
        return
    stage = os.path.dirname(folder)
    logging.info(
        "The weights are those of step %d in %s%s.",
        LastState(stage, model).load(),
        stage,
        ", not their average" if is_averaged else "",
    )
