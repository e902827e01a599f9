"""Starts a run from the best weights of another."""

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import keras
import numpy as np
from absl import logging

from mtl_tf.core.errors import RunError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.pretraining import text_training
from mtl_tf.runs import systems
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory import kinds, seals
from mtl_tf.runs.directory.run_directory import RunDirectory, no_weights
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from mtl_tf.training.optimizers import freezing
from mtl_tf.training.optimizers.freezing import is_head, path_of


@dataclasses.dataclass(frozen=True)
class Source:
    """The run that weights are taken from.

    Attributes:
        directory: its run directory.
        weights: its weights by path.
        tasks: its task names, in the order of their slices.
        words: see `System.words_of`.
        step: the step of the best weights.
        labels: the labels of its tasks, by name; () for tasks without labels.
    """

    directory: str
    weights: Mapping[str, np.ndarray]
    tasks: Sequence[str]
    words: Mapping[str, Sequence[str]]
    step: int
    labels: Mapping[str, Sequence[str]] = dataclasses.field(
        default_factory=dict
    )


def check_source(directory: str) -> None:
    """Refuses a directory without weights to start from; reads no weights.

    Raises:
        RunError: the directory holds neither a trained run of one model nor a
            scheme's weights from `launch.pretrain`.
    """
    run = RunDirectory(directory)
    if run.has(text_training.SETTINGS_FILE):
        if not text_training.has_ended(run.read(text_training.SETTINGS_FILE)):
            raise RunError(
                f"training.initialize_from: {directory} holds a pre-training "
                "that has not ended: repeat its command, and name its --output"
            )
        if not run.has("best"):
            raise RunError(
                f"training.initialize_from: {directory} holds an encoder: name "
                "it as model.encoder.preset"
            )
        return
    kinds.check_is_run(directory, "training.initialize_from")
    if not run.has(os.path.join("best", "best.json")):
        reason = "no trained weights (name one of its tasks/*)"
        if not run.has("tasks"):
            reason = no_weights(run)
        raise RunError(f"training.initialize_from: {directory} has {reason}")


def read_source(directory: str) -> Source:
    """Reads a run's best weights and what their rows stand for.

    Raises:
        RunError: see `check_source`; or a file is missing or damaged.
    """
    check_source(directory)
    run = RunDirectory(directory)
    if run.has(text_training.SETTINGS_FILE):
        # Weights of a scheme from `launch.pretrain`, which belong to no task.
        best, weights = BestWeights.read(run.file("best"))
        return Source(directory, weights, [], {}, best["step"])
    seals.check(run)
    config = run.read("config.json")
    best, weights = BestWeights.read(run.file("best"))
    tasks = run.read("labels.json")["tasks"]
    names = [task["name"] for task in tasks]
    text = run_data.load_encoder(run.file("vocabulary"), config, tasks)
    labels = {task["name"]: task["labels"] for task in tasks}
    words = systems.of_type(tasks[0]["type"]).words_of(text)
    return Source(directory, weights, names, words, best["step"], labels)


def initialize(
    model: keras.Model,
    source: Source,
    tasks: Sequence[str],
    words: Mapping[str, Sequence[str]],
    labels: Mapping[str, Sequence[str]] | None = None,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Copies those weights of another run that fit a model.

    A weight is copied from the weight of the same path and shape. For word
    vectors, and a decoder's output layer, the rows of words that both runs know
    are copied. For a stack (one slice per task), only the slices of tasks with
    the same name are copied; likewise for a shared weight that has
    `has_rows_of_tasks`. A head's weights are copied label by label, by the
    labels' names. So a task may have more or other labels than before, and the
    head may be wider because of other tasks. Weights that belong to no single
    label are only copied if all labels are the same, in the same order. What
    was learnt from texts without tasks is copied to every slice. Frequencies of
    n-grams are copied for those that the texts of the other run have.

    Args:
        model: the model to fill; other weights stay.
        source: see `read_source`.
        tasks: the names of the model's tasks.
        words: the model's words; see `System.words_of`.
        labels: the labels of the model's tasks, by name; None if they are the
            same.
        only: the weights to copy, as `freezing.taken` names them; () for all
            that fit.

    Returns:
        What was copied and what was not, and why, for `initialized.json`.
    """
    _tell_lost_words(source, words)
    names = _Names(tasks, words, labels or {})
    taken, left = [], []
    chosen = {id(v) for v in freezing.taken(model, only)}
    for variable in model.variables:
        part, reason = "", "training.initialize_only does not name it"
        if not only or id(variable) in chosen:
            part, reason = _take(variable, source, names)
        path = path_of(variable)
        if part:
            taken.append({"path": path, "what": part})
            logging.info("Taken: %s: %s", path, part)
        else:
            left.append({"path": path, "why": reason})
            logging.info("Not taken: %s: %s", path, reason)
    return {
        "from": source.directory,
        "step": source.step,
        "taken": taken,
        "not_taken": left,
    }


def _tell_lost_words(
    source: Source, words: Mapping[str, Sequence[str]]
) -> None:
    """Warns if this run lacks most words that the other run knows."""
    for path, theirs in source.words.items():
        ours = set(words.get(path, theirs))
        lost = sum(word not in ours for word in theirs)
        if 2 * lost > len(theirs):
            logging.warning(
                "training.initialize_from: the vocabulary of this run lacks "
                "%d of the %d words or characters that %s has for %s. To keep "
                "them, add the tasks of that run to text.vocabulary_tasks.",
                lost,
                len(theirs),
                source.directory,
                path,
            )


@dataclasses.dataclass(frozen=True)
class _Names:
    """What the model's weights stand for; see `initialize`."""

    tasks: Sequence[str]
    words: Mapping[str, Sequence[str]]
    labels: Mapping[str, Sequence[str]]


def _take(
    variable: keras.Variable, source: Source, names: _Names
) -> tuple[str, str]:
    """Copies what fits; returns what it was, or "" and the reason."""
    if reason := _no_source(variable, source, names.words):
        return "", reason
    changed = _changed(source, names.labels) if is_head(variable) else set()
    marks = marks_of(variable)
    if marks.is_private or marks.has_rows_of_tasks:
        return _take_tasks(variable, source, names, changed)
    path = path_of(variable)
    ours, theirs = _below(names.words, path), _below(source.words, path)
    if ours is None or theirs is None:
        return _take_whole(variable, source.weights[path], changed)
    value, new = source.weights[path], variable.numpy()
    pairs = _pairs(theirs, ours)
    return _take_slices(variable, value, new, pairs, "words", "name")


def _take_whole(
    variable: keras.Variable, value: np.ndarray, changed: set[str]
) -> tuple[str, str]:
    """Copies a weight that all tasks share; returns as `_take`.

    Args:
        variable: the weight.
        value: its value in the source.
        changed: the tasks of other labels, if it is a head's.
    """
    shape = tuple(variable.shape)
    if value.shape != shape:
        return "", f"its shape is {shape}, there {value.shape}"
    if changed:
        return "", f"{' and '.join(sorted(changed))}: the labels differ"
    if marks_of(variable).is_count:
        # What only this run's texts have is not in the other's counts.
        value = np.where(value > 0, value, variable.numpy())
    variable.assign(value)
    return "all", ""


def _take_tasks(
    variable: keras.Variable, source: Source, names: _Names, changed: set[str]
) -> tuple[str, str]:
    """Copies the slices of tasks, or labels in them; returns as `_take`.

    Args:
        variable: a stack, which may be one long table of the tasks' tables.
        source: see `read_source`.
        names: of the model.
        changed: the tasks of other labels, if it is a head's.
    """
    path = path_of(variable)
    value = _by_task(source.weights[path], len(source.tasks))
    new = _by_task(variable.numpy(), len(names.tasks))
    if _below(names.words, path) != _below(source.words, path):
        return "", "the vocabularies differ"
    if names.labels and _differ_in_labels(variable, value, new):
        part = _take_labels(variable, value, new, source, names)
        if not part:
            common = set(names.tasks) & set(source.tasks)
            also = " and labels" if common else ""
            return "", f"no tasks of the same name{also}"
        variable.assign(new.reshape(tuple(variable.shape)))
        return part, ""
    pairs = _pairs(source.tasks, names.tasks, changed)
    criterion = "name and the same labels" if changed else "name"
    return _take_slices(variable, value, new, pairs, "tasks", criterion)


def _take_slices(
    variable: keras.Variable,
    value: np.ndarray,
    new: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    noun: str,
    criterion: str,
) -> tuple[str, str]:
    """Copies slices of the first axis; returns as `_take`.

    Args:
        variable: the weight.
        value, new: its slices in the source and in the model, which change.
        pairs: the slices to copy, (source, model).
        noun: what slices stand for.
        criterion: what those that are copied have in common.
    """
    if value.shape[1:] != new.shape[1:]:
        return (
            "",
            f"a slice has the shape {new.shape[1:]}, there {value.shape[1:]}",
        )
    # Characters beyond the last row share the rows of others.
    pairs = [(a, b) for a, b in pairs if a < len(value) and b < len(new)]
    if not pairs:
        return "", f"no {noun} of the same {criterion}"
    places, rows = map(list, zip(*pairs))
    new[rows] = value[places]
    variable.assign(new.reshape(tuple(variable.shape)))
    return f"{len(pairs)} of {len(new)} {noun}", ""


def _no_source(
    variable: keras.Variable,
    source: Source,
    words: Mapping[str, Sequence[str]],
) -> str:
    """Why the source has no weight for this one; "" if it has."""
    if marks_of(variable).is_of_vocabulary:
        return "the vocabulary of this run says what it is"
    if path_of(variable) not in source.weights:
        return "the other run has no weight of this path"
    if marks_of(variable).is_by_word_id and words != source.words:
        return "its n-grams are of words' ids: the vocabularies differ"
    return ""


def _take_labels(
    variable: keras.Variable,
    value: np.ndarray,
    new: np.ndarray,
    source: Source,
    names: _Names,
) -> str:
    """Copies the parts of a stack for labels that both runs have.

    Args:
        variable: tells which of its axes are labels.
        value, new: the stacks of the source and of the model, which is changed.
        source: see `read_source`.
        names: of the model.

    Returns:
        What was copied; "" for nothing.
    """
    taken, parts = 0, []
    for place, row in _pairs(source.tasks, names.tasks):
        name = names.tasks[row]
        ours = list(names.labels.get(name, ()))
        theirs = list(source.labels.get(name, ours))
        common = [label for label in ours if label in theirs]
        if not common:
            continue
        taken += 1
        if len(common) < len(ours):
            parts.append(f", of {name} {len(common)} of {len(ours)} labels")
        axes = marks_of(variable).label_axes
        our_index = np.ix_(*[[ours.index(label) for label in common]] * axes)
        their_index = np.ix_(
            *[[theirs.index(label) for label in common]] * axes
        )
        new[row][(..., *our_index)] = value[place][(..., *their_index)]
    return f"{taken} of {len(new)} tasks{''.join(parts)}" if taken else ""


def _changed(source: Source, labels: Mapping[str, Sequence[str]]) -> set[str]:
    """The tasks whose labels differ from the source's."""
    return {
        name
        for name, ours in labels.items()
        if list(ours) != list(source.labels.get(name, ours))
    }


def _differ_in_labels(
    variable: keras.Variable, value: np.ndarray, new: np.ndarray
) -> bool:
    """Whether slices differ at most in the axes of labels."""
    axes = marks_of(variable).label_axes
    shapes = [part.shape[1 : part.ndim - axes] for part in (value, new)]
    return axes > 0 and value.ndim == new.ndim and shapes[0] == shapes[1]


def _below(words: Mapping[str, Sequence[str]], path: str) -> list[str] | None:
    """The words that the rows of a weight stand for, or None."""
    matches = (rows for start, rows in words.items() if path.startswith(start))
    return next(map(list, matches), None)


def _by_task(stack: np.ndarray, tasks: int) -> np.ndarray:
    """A stack of all tasks as [tasks, ...], also if it is one long table.

    A weight without tasks is a stack of one slice.
    """
    if not tasks:
        return stack[None]
    rows, rest = divmod(stack.shape[0], tasks)
    if rest or rows == 1:
        return stack
    return stack.reshape([tasks, rows, *stack.shape[1:]])


def _pairs(
    theirs: Sequence[str], ours: Sequence[str], without: Collection[str] = ()
) -> list[tuple[int, int]]:
    """The indices (source, model) of names that both have.

    Each task starts from what was learnt without tasks.
    """
    if not theirs:
        return [(0, row) for row in range(len(ours))]
    places = {name: place for place, name in enumerate(theirs)}
    return [
        (places[name], row)
        for row, name in enumerate(ours)
        if name in places and name not in without
    ]
