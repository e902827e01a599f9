"""Checks before a long training that the scored splits have labels."""

from collections.abc import Iterable, Sequence

import numpy as np

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.batching import values_of
from mtl_tf.tasks.task import Task

_FIRST = 1024  # examples whose labels are checked
_TEST = "; cross_validation.folds=10 holds out a tenth of the texts as test"


def check_scored(tasks: Iterable[Task], splits: Iterable[str]) -> None:
    """Refuses splits that cannot be scored, before hours of training.

    If each text has one label, only the first texts are checked: a test set
    released without labels has none at all.

    Args:
        tasks: the tasks of a run.
        splits: the config's `evaluation.splits`.

    Raises:
        ConfigError: a task does not have a split.
        DataError: a split has no labels, or cannot be read.
    """
    splits = tuple(splits)
    for task in tasks:
        for split in splits:
            try:
                task.size(split)
            except ConfigError as error:
                raise ConfigError(
                    f"{error} (or score other splits: evaluation.splits has "
                    f"{split!r}{_TEST if split == 'test' else ''})"
                )
            for feature in task.features:
                if not feature.is_class:
                    continue
                first = task.dataset(split).take(_FIRST)
                labels = values_of(first, feature.name)
                check_labelled(task.name, split, labels)


def check_labelled(task: str, split: str, labels: Sequence[int]) -> None:
    """Raises `DataError` if labels are -1, which means unlabelled."""
    missing = int(np.sum(np.asarray(labels) < 0))
    if missing:
        raise DataError(
            f"task {task}: {missing} of {len(labels)} examples of the split "
            f"{split!r} have no label (-1): name another one in `splits` of "
            "the task's entry, such as 'validation' or 'train[:10%]'"
        )
