"""A check of one's own task before a long training."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.task import Task

_FIRST = 1024  # examples whose labels are looked at


@dataclasses.dataclass(frozen=True)
class SplitReport:
    """What a split holds.

    Attributes:
        rows: examples.
        labels: how many examples (of a tagging task, tokens) each class has,
            in the order of the labels.
        unlabelled: examples (tokens) whose label id is -1.
        empty: examples whose text (of a pair, the source) is empty or white
            space.
        seen: examples whose text stands in an earlier split of the report,
            too: scores on them say little.
    """

    rows: int
    labels: dict[str, int]
    unlabelled: int
    empty: int
    seen: int


@dataclasses.dataclass(frozen=True)
class TaskReport:
    """What a task's splits hold, and what its source warned of."""

    name: str
    splits: dict[str, SplitReport]
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"task {self.name}"]
        for name, split in self.splits.items():
            labels = ", ".join(f"{k} {n}" for k, n in split.labels.items())
            counts = f" ({labels}), {split.unlabelled} unlabelled"
            lines.append(
                f"  {name}: {split.rows} rows{counts if labels else ''}, "
                f"{split.empty} empty texts, {split.seen} texts of earlier "
                "splits"
            )
        return "\n".join([*lines, *(f"  warning: {w}" for w in self.warnings)])


def check_task(task: Task) -> TaskReport:
    """Reads every split of a task to the end.

    Example:

    >>> (task,) = resolve([{"name": "mails", "files": {"train": "mails.csv"}}])
    >>> print(check_task(task))

    Args:
        task: any task with data, such as one of `resolve`.

    Returns:
        What the splits hold.

    Raises:
        ConfigError: a split is not there.
        DataError: the data are wrong, or a label id is not one of the labels.
    """
    seen: set[bytes] = set()
    splits = {split: _check(task, split, seen) for split in task.splits}
    return TaskReport(task.name, splits, tuple(task.source.warnings))


def _check(task: Task, split: str, seen: set[bytes]) -> SplitReport:
    counts: Counter[int] = Counter()
    texts: list[bytes] = []
    features, task_type = task.features, task.task_type
    examples = task.dataset(split).map(
        lambda example: (example, task.text_of(example))
    )
    for number, (example, text) in enumerate(examples.as_numpy_iterator()):
        for label in task_type.label_ids(features, example).tolist():
            if not -1 <= label < len(task.labels):
                raise DataError(
                    f"task {task.name}, split {split}, example {number}: "
                    f"label id {label} is not one of the {len(task.labels)} "
                    "labels"
                )
            counts[label] += 1
        texts.append(text)
    if not texts:
        raise DataError(f"task {task.name}, split {split}: no examples")
    report = SplitReport(
        rows=len(texts),
        labels={name: counts[i] for i, name in enumerate(task.labels)},
        unlabelled=counts[-1],
        empty=sum(
            not text.decode("utf-8", "replace").strip() for text in texts
        ),
        seen=sum(text in seen for text in texts),
    )
    seen.update(texts)
    return report


def check_scored(tasks: Iterable[Task], splits: Iterable[str]) -> None:
    """Refuses splits that cannot be scored, before hours of training.

    Where each text has one label the first texts are looked at: released test
    sets without labels have none at all.

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
                    f"{split!r})"
                )
            for feature in task.features:
                if not feature.is_class:
                    continue
                examples = task.dataset(split).take(_FIRST).as_numpy_iterator()
                labels = [example[feature.name] for example in examples]
                check_labelled(task.name, split, labels)


def check_labelled(task: str, split: str, labels: Sequence[int]) -> None:
    """Raises `DataError` where labels are -1, which stands for none."""
    missing = int(np.sum(np.asarray(labels) < 0))
    if missing:
        raise DataError(
            f"task {task}: {missing} of {len(labels)} examples of the split "
            f"{split!r} have no label (-1): name another one in `splits` of "
            "the task's entry, such as 'validation' or 'train[:10%]'"
        )
