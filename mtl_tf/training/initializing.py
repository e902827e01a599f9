"""Starting a run from the best weights of another."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from absl import logging

from mtl_tf.core.errors import RunError
from mtl_tf.models.multi_task import MultiTaskModel
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.training.checkpoints import BestWeights
from mtl_tf.training.freezing import PARTS, is_private, path_of
from mtl_tf.training.run_directory import RunDirectory


@dataclasses.dataclass(frozen=True)
class Source:
    """The run that weights are taken from.

    Attributes:
        directory: its run directory.
        weights: by path.
        tasks: names of its tasks, in the order of their slices.
        words: of its vocabulary, in the order of their vectors.
        step: of the best weights.
    """

    directory: str
    weights: Mapping[str, np.ndarray]
    tasks: Sequence[str]
    words: Sequence[str]
    step: int


def read_source(directory: str) -> Source:
    """Reads a run's best weights and what their rows stand for.

    Raises:
        RunError: the directory holds no trained run of one model.
    """
    run = RunDirectory(directory)
    if not run.has("config.json"):
        raise RunError(
            f"training.initialize_from: {directory} is not a run directory: "
            "it has no config.json"
        )
    if not run.has(os.path.join("best", "best.json")):
        hint = " (name one of its tasks/*)" if run.has("tasks") else ""
        raise RunError(
            f"training.initialize_from: {directory} has no trained weights"
            f"{hint}"
        )
    best, weights = BestWeights.read(run.file("best"))
    encoder = TextEncoder.load(run.file("vocabulary"))
    tasks = [task["name"] for task in run.read("labels.json")["tasks"]]
    words = encoder.vocabulary.tokens
    return Source(directory, weights, tasks, words, best["step"])


def initialize(
    model: MultiTaskModel,
    source: Source,
    tasks: Sequence[str],
    words: Sequence[str],
) -> dict[str, Any]:
    """Gives a model the weights of another that fit it.

    A weight is taken from that of the same path and shape. Of the word
    vectors those of the words that both know are taken. Of a stack, one slice
    a task, the slices of the tasks of the same name are taken and no others;
    likewise of a shared weight that says that it has `rows_of_tasks`.

    Args:
        model: the model to fill; what is not taken stays.
        source: see `read_source`.
        tasks: names of the model's tasks.
        words: of the model's vocabulary.

    Returns:
        What was taken and what not, and why not, for `initialized.json`.
    """
    taken, left = [], []
    for variable in model.variables:
        what, why = _take(variable, source, tasks, words)
        path = path_of(variable)
        if what:
            taken.append({"path": path, "what": what})
            logging.info("Taken: %s: %s", path, what)
        else:
            left.append({"path": path, "why": why})
            logging.info("Not taken: %s: %s", path, why)
    return {
        "from": source.directory,
        "step": source.step,
        "taken": taken,
        "not_taken": left,
    }


def _take(
    variable: keras.Variable,
    source: Source,
    tasks: Sequence[str],
    words: Sequence[str],
) -> tuple[str, str]:
    """Takes what fits; returns what it was, or "" and why nothing was."""
    value = source.weights.get(path_of(variable))
    shape = tuple(variable.shape)
    if value is None:
        return "", "the other run has no weight of this path"
    new = variable.numpy()
    if is_private(variable) or getattr(variable, "rows_of_tasks", False):
        # A stack may be a long table of the tasks' tables.
        value = _by_task(value, len(source.tasks))
        new = _by_task(new, len(tasks))
        if PARTS["embedding"](variable) and list(words) != list(source.words):
            return "", "the vocabularies differ"
        pairs, noun = _pairs(source.tasks, tasks), "tasks"
    elif PARTS["embedding"](variable):
        pairs, noun = _pairs(source.words, words), "words"
    elif value.shape != shape:
        return "", f"its shape is {shape}, there {value.shape}"
    else:
        variable.assign(value)
        return "all", ""
    if value.shape[1:] != new.shape[1:]:
        return (
            "",
            f"a slice has the shape {new.shape[1:]}, there {value.shape[1:]}",
        )
    if not pairs:
        return "", f"no {noun} of the same name"
    there, here = map(list, zip(*pairs))
    new[here] = value[there]
    variable.assign(new.reshape(shape))
    return f"{len(pairs)} of {len(new)} {noun}", ""


def _by_task(stack: np.ndarray, tasks: int) -> np.ndarray:
    """A stack of all tasks, one below the other or not, as [tasks, ...]."""
    rows, rest = divmod(stack.shape[0], tasks)
    if rest or rows == 1:
        return stack
    return stack.reshape([tasks, rows, *stack.shape[1:]])


def _pairs(theirs: Sequence[str], ours: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the names that both have: (there, here)."""
    places = {name: place for place, name in enumerate(theirs)}
    return [
        (places[name], here) for here, name in enumerate(ours) if name in places
    ]
