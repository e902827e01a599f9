"""Statistics of a task's splits."""

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
from mtl_tf.text.tokenizers.tokenizers import UNSPACED

# At least two letters: tokenizers leave "e.g." and "U.S." as they are.
_GLUED = rf".*\pL{{2}}[,.;:!?)]+|.*[{UNSPACED}]{{2}}.*"
_USUAL_SPLITS = ("train", "validation", "test")


@dataclasses.dataclass(frozen=True)
class TaskSplit:
    """Statistics of one split.

    Attributes:
        split: its name within the task.
        examples: the number of examples.
        tokens: the mean number of white-space tokens, or given words, over all
            inputs of an example; 0 without examples.
        labels: how many examples (or tokens, if each has a label) have each
            label; None if the targets are no labels.
        unlabelled: the number of labels that are -1, for none.
        repeated: the number of examples whose text is also in an earlier split
            of the task; scores on them say little.
        glued: the share of white-space tokens that end in a comma, a full stop
            or the like after a letter (raw texts have some 10 %), or that have
            several characters of a script without spaces.
        values: least, mean and greatest value if the targets are numbers; else
            ().
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
        """Yields warnings about the split."""
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
    """The labelled splits: training, validation, test, then others."""
    usual = [name for name in _USUAL_SPLITS if name in task.splits]
    # Splits that are held out of the training texts come last.
    splits = dict.fromkeys([*usual, *task.splits])
    return [name for name in splits if name != UNLABELLED]


def statistics(task: Task) -> Iterator[TaskSplit]:
    """Reads every split of a task to the end and counts.

    Yields:
        The statistics of the training, validation and test splits, in this
        order, then of others.

    Raises:
        DataError: the data are wrong, or a label id is not one of the task's;
            the message says where.
    """
    earlier: set[int] = set()
    read: set[str] = set()
    for split in ordered_splits(task):
        texts: list[int] = []
        # Where one split serves as two, repeated texts are no accident.
        again = task.splits[split] in read
        yield _count(task, split, set() if again else earlier, texts)
        earlier.update(texts)
        read.add(task.splits[split])


def _count(
    task: Task, split: str, earlier: Set[int], texts: list[int]
) -> TaskSplit:
    """Counts a split, and adds the hashes of its texts to `texts`."""
    read, labels = inputs(task.features), _labels(task)
    numbers = [f for f in targets(task.features) if f.element == NUMBERS]
    least, total, greatest = math.inf, 0.0, -math.inf
    tokens = unlabelled = glued = 0
    counts = np.zeros(len(task.labels), np.int64)
    for batch in batched(task.dataset(split)):
        # Hashes, as the texts themselves would fill the memory.
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
    """The target whose values are the task's labels, if there is one."""
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
        ValueError: an id is not one of the labels.
    """
    if labels.axes and not labels.time:
        # Here a target has one place for each label, 1 if the example has it.
        return np.sum(values.reshape(-1, size) > 0, axis=0)
    wrong = values[(values < -1) | (values >= size)]
    if len(wrong):
        raise ValueError(
            f"the label's number {wrong[0]} is not one of the {size} labels, "
            "which are numbered from 0"
        )
    return np.bincount(values[values >= 0], minlength=size)
