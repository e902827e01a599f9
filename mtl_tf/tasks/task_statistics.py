"""What the splits of a task hold."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Set

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import DataError
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import (
    LABELS,
    NUMBERS,
    WORDS,
    Feature,
    inputs,
    targets,
)
from mtl_tf.tasks.source import UNLABELLED
from mtl_tf.tasks.task import Task

_BATCH = 1024
# Tokenisers leave "e.g." and "U.S." as they are: one letter is none.
_GLUED = r".*\pL{2}[,.;:!?)]+"
_USUAL_SPLITS = ("train", "validation", "test")


@dataclasses.dataclass(frozen=True)
class TaskSplit:
    """Numbers of one split.

    Attributes:
        split: its name within the task.
        examples: how many.
        tokens: mean number of white-space separated tokens, or given words,
            of all inputs of an example; 0 without examples.
        labels: by label, examples, or tokens where each has one, that have
            it; None where the targets are no labels.
        unlabelled: labels that are -1, which stands for none.
        repeated: examples whose text stands in an earlier split of the task,
            too: scores on them say little.
        glued: share of its white-space separated tokens that end in a comma,
            a full stop or the like behind a letter: raw texts have some 10 %.
        values: the least, mean and greatest one where targets are numbers;
            () otherwise.
    """

    split: str
    examples: int
    tokens: float
    labels: Mapping[str, int] | None
    unlabelled: int
    repeated: int
    glued: float = 0.0
    values: tuple[float, ...] = ()

    def warnings(self) -> Iterator[str]:
        """What is odd about the split, in sentences."""
        if self.repeated:
            yield (
                f"{self.repeated:,} of the {self.examples:,} texts of the "
                f"split {self.split!r} also occur in an earlier split: scores "
                "on them say little"
            )
        if self.unlabelled:
            yield (
                f"{self.unlabelled:,} labels of the split {self.split!r} are "
                "-1, which means that there is no label"
            )


def ordered_splits(task: Task) -> list[str]:
    """The splits with labels, those of training, validation and test first."""
    usual = [name for name in _USUAL_SPLITS if name in task.splits]
    # A part that is held out of the training texts comes last.
    splits = dict.fromkeys([*usual, *task.splits])
    return [name for name in splits if name != UNLABELLED]


def statistics(task: Task) -> Iterator[TaskSplit]:
    """Reads every split of a task to its end and counts.

    Yields:
        Those of training, validation and test texts first, in this order.

    Raises:
        DataError: the data are wrong, or a number of a label is not that of
            one of the task's labels; the message names the place.
    """
    earlier: set[int] = set()
    read: set[str] = set()
    for split in ordered_splits(task):
        texts: list[int] = []
        # Of a corpus that has one split for two it is no accident.
        again = task.splits[split] in read
        yield _count(task, split, set() if again else earlier, texts)
        earlier.update(texts)
        read.add(task.splits[split])


def _count(
    task: Task, split: str, earlier: Set[int], texts: list[int]
) -> TaskSplit:
    """Counts; `texts` takes the hashes of the split's texts."""
    read, labels = inputs(task.features), _labels(task)
    numbers = [f for f in targets(task.features) if f.element == NUMBERS]
    least, total, greatest = math.inf, 0.0, -math.inf
    tokens = unlabelled = glued = 0
    counts = np.zeros(len(task.labels), np.int64)
    for batch in batched(task.dataset(split), _BATCH):
        # Texts themselves would fill the memory.
        texts += [hash(text) for text in task.text_of(batch).numpy().tolist()]
        for text in read:
            words = _tokens(text, batch[text.name])
            tokens += int(tf.size(words))
            if text.element != WORDS:
                glued += int(tf.math.count_nonzero(_is_glued(words)))
        if numbers:
            values = batch[numbers[0].name].numpy().astype(np.float64)
            least, greatest = (
                min(least, values.min()),
                max(greatest, values.max()),
            )
            total += values.sum()
        if labels:
            values = _values(batch[labels.name])
            unlabelled += int(np.sum(values < 0))
            try:
                counts += _counts(labels, values, len(counts))
            except ValueError as error:
                raise DataError(f"task {task.name}, split {split}: {error}")
    return TaskSplit(
        split,
        len(texts),
        tokens / max(len(texts), 1),
        dict(zip(task.labels, counts.tolist())) if labels else None,
        unlabelled,
        sum(text in earlier for text in texts),
        glued / max(tokens, 1),
        (least, total / len(texts), greatest) if numbers and texts else (),
    )


def _labels(task: Task) -> Feature | None:
    """The target that is made of the task's labels."""
    declared = [f for f in targets(task.features) if f.element == LABELS]
    return declared[0] if declared and task.labels else None


def _tokens(text: Feature, values: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
    words = values if text.element == WORDS else tf.strings.split(values)
    return getattr(words, "flat_values", words)


def _is_glued(words: tf.Tensor) -> tf.Tensor:
    return tf.strings.regex_full_match(words, _GLUED)


def _values(labels: tf.Tensor | tf.RaggedTensor) -> np.ndarray:
    return getattr(labels, "flat_values", labels).numpy()


def _counts(labels: Feature, values: np.ndarray, size: int) -> np.ndarray:
    """How often each label occurs in a batch, int64 [labels].

    Raises:
        ValueError: there is no label of some number.
    """
    if labels.axes and not labels.time:
        # One place for each label: whether an example has it.
        return np.sum(values.reshape(-1, size) > 0, axis=0)
    wrong = values[(values < -1) | (values >= size)]
    if len(wrong):
        raise ValueError(
            f"the label's number {wrong[0]} is not one of the {size} labels, "
            "which are numbered from 0"
        )
    return np.bincount(values[values >= 0], minlength=size)
