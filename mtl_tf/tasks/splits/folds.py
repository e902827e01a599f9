"""Cross-validation: tests a task on one fold and trains on the others.

Only examples without an official test use are divided: the training and
validation splits, and also a test split that was drawn at random (SUBJ, MR).
Fold i of all tasks of a run is tested together, so a joint model has seen no
tested example of any task. A tenth of the other folds is held out for
validation, as for every task without a validation split.

A fold depends only on the texts and labels. The examples of each class are
sorted by a hash of their text and cut into equal parts, but never between equal
texts. So folds are stratified. A text with two labels, or in two tasks (SST-1
and SST-2), is mostly in the same fold. Where it is not, the tested example is
not in the clean part. Examples that a task type keeps together, such as
questions about one context, are in the same fold.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import task_types
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.source import tell
from mtl_tf.tasks.splits.hold_out import (
    HELD_OUT,
    KEPT,
    HoldOutSource,
    text_key,
)
from mtl_tf.tasks.splits.parts import PartsSource
from mtl_tf.tasks.task import Task

OTHERS = "all folds but the tested one"
TESTED = "the tested fold"
# A constant key, so that runs of all seeds are compared on the same folds.
_DIVISION = b"0"


def in_fold(task: Task, cross_validation: Mapping[str, int] | None) -> Task:
    """The task as divided by one fold of a cross-validation.

    Args:
        task: the task with its original splits.
        cross_validation: `{"folds": k, "fold": i}` with 0 <= i < k. Without
            cross-validation (None, or folds 0) the task is returned unchanged.

    Returns:
        The task with train, validation and test made from the folds. Its
        source's other splits remain available by name.

    Raises:
        ConfigError: wrong numbers, or a task that cannot be divided.
    """
    if not cross_validation:
        return task
    folds, fold = checks.folds("cross_validation", **cross_validation)
    if not folds:
        return task
    pool = [split for split in task.pool if split in task.splits]
    if not pool:
        raise ConfigError(
            f"task {task.name} cannot be cross-validated: its training "
            "examples are parts of one another; set cross_validation.folds to "
            "0 or take the sentence-level task"
        )
    if isinstance(task.source, HoldOutSource):
        # The folds join both parts again.
        task.source.is_told = False
    task_type = task_types.of(task.type)
    together = task_type.held_out_together
    source = FoldSource(task, pool, folds, fold, together)
    return dataclasses.replace(
        task,
        source=HoldOutSource(
            source,
            OTHERS,
            task.name,
            drawn_by=task_type.held_out_by(task.name),
            together=together,
        ),
        splits={"train": KEPT, "validation": HELD_OUT, "test": TESTED},
    )


class FoldSource(PartsSource):
    """Divides splits of a task into folds.

    Args:
        task: the task whose source is divided; other splits are unchanged.
        pool: names of the splits to divide, joined in this order.
        folds: the number of folds.
        fold: the tested fold, from 0.
        together: a text feature; examples with equal values are in the same
            fold. If that would leave a fold empty, examples are divided one by
            one, with a warning. "" for none.
    """

    def __init__(
        self,
        task: Task,
        pool: Sequence[str],
        folds: int,
        fold: int,
        together: str = "",
    ):
        super().__init__(task.source, (OTHERS, TESTED))
        self._task = task
        self._pool = tuple(pool)
        self._folds = folds
        self._fold = fold
        self._together = together

    def whole(self) -> tf.data.Dataset:
        """The splits that are divided, one after the other."""
        first, *later = (self._task.dataset(split) for split in self._pool)
        return functools.reduce(lambda a, b: a.concatenate(b), later, first)

    def mask(self, part: str) -> np.ndarray:
        """See `PartsSource.mask`."""
        return self._tested == (part == TESTED)

    def place_in_whole(self, number: int) -> str:
        """See `PartsSource.place_in_whole`."""
        for split in self._pool[:-1]:
            if number < self._task.size(split):
                return self._task.place(split, number)
            number -= self._task.size(split)
        return self._task.place(self._pool[-1], number)

    @functools.cached_property
    def _tested(self) -> np.ndarray:
        texts, labels, shared = [], [], []
        # Only tasks with one label per example have classes to stratify by.
        classes = [
            feature.name for feature in self._task.features if feature.is_class
        ]
        for batch in batched(self.whole()):
            batch_texts = self._task.text_of(batch).numpy().tolist()
            texts += batch_texts
            if self._together:
                shared += batch[self._together].numpy().tolist()
            labels += (
                batch[classes[0]].numpy().tolist()
                if classes
                else [0] * len(batch_texts)
            )
        if len(texts) < self._folds:
            raise ConfigError(
                f"task {self._task.name} cannot be divided in {self._folds} "
                f"folds: it has {len(texts)} examples"
            )
        numbers = self._numbers(texts, labels, shared)
        tested = numbers == self._fold
        tell(
            f"task {self._task.name}: fold {self._fold} of {self._folds} has "
            f"{np.sum(tested)} of {len(tested)} examples, from "
            f"{' and '.join(self._pool)}",
            logging.INFO,
        )
        return tested

    def _numbers(
        self,
        texts: Sequence[bytes],
        labels: Sequence[int],
        shared: Sequence[bytes],
    ) -> np.ndarray:
        """See `fold_numbers`; examples with the same `shared` stay together."""
        if shared:
            # An empty text does not tie examples together.
            keys = [s if s.strip() else t for s, t in zip(shared, texts)]
            numbers = fold_numbers(keys, labels, self._folds)
            if len(np.unique(numbers)) == self._folds:
                return numbers
            tell(
                f"task {self._task.name} has too few different "
                f"{self._together}s to keep each in one of {self._folds} "
                f"folds: some test examples share their {self._together} "
                "with training examples"
            )
        return fold_numbers(texts, labels, self._folds)


def fold_numbers(
    texts: Sequence[bytes], labels: Sequence[int], folds: int
) -> np.ndarray:
    """The fold of every example.

    Args:
        texts: the examples' texts.
        labels: their class ids, -1 for none.
        folds: the number of folds.

    Returns:
        int64 [n], 0 to folds - 1. The folds have equal numbers of each class,
        up to one example and up to copies of a text.
    """
    keys = np.array([text_key(text, _DIVISION) for text in texts], np.uint64)
    labels = np.asarray(labels)
    numbers = np.zeros(len(keys), np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        ordered = members[np.argsort(keys[members], kind="stable")]
        # Copies of a text are in the fold of the first copy.
        _, first, copies = np.unique(
            keys[ordered], return_index=True, return_inverse=True
        )
        numbers[ordered] = first[copies] * folds // len(members)
    return numbers
