"""What the splits of a task hold."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import tensorflow as tf

from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import LABELS, WORDS, Feature, inputs, targets
from mtl_tf.tasks.task import Task

_BATCH = 1024


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
    """

    split: str
    examples: int
    tokens: float
    labels: Mapping[str, int] | None


def statistics(task: Task) -> Iterator[TaskSplit]:
    """Reads every split of a task and counts.

    Raises:
        DataError: the data are wrong; the message names the place.
    """
    for split in task.splits:
        yield _count(task, split)


def _count(task: Task, split: str) -> TaskSplit:
    texts, labels = inputs(task.features), _labels(task)
    tokens = examples = 0
    counts = np.zeros(len(task.labels), np.int64)
    for batch in batched(task.dataset(split), _BATCH):
        examples += int(batch[texts[0].name].shape[0])
        tokens += sum(_tokens(text, batch[text.name]) for text in texts)
        if labels:
            counts += _counts(labels, batch[labels.name], len(counts))
    return TaskSplit(
        split,
        examples,
        tokens / max(examples, 1),
        dict(zip(task.labels, counts.tolist())) if labels else None,
    )


def _labels(task: Task) -> Feature | None:
    """The target that is made of the task's labels."""
    declared = [f for f in targets(task.features) if f.element == LABELS]
    return declared[0] if declared and task.labels else None


def _tokens(text: Feature, values: tf.Tensor | tf.RaggedTensor) -> int:
    words = values if text.element == WORDS else tf.strings.split(values)
    return int(tf.size(getattr(words, "flat_values", words)))


def _counts(
    labels: Feature, values: tf.Tensor | tf.RaggedTensor, size: int
) -> np.ndarray:
    """How often each label occurs in a batch, int64 [labels]."""
    values = getattr(values, "flat_values", values).numpy()
    if labels.axes and not labels.time:
        # One place for each label: whether an example has it.
        return np.sum(values.reshape(-1, size) > 0, axis=0)
    return np.bincount(values[values >= 0], minlength=size)
