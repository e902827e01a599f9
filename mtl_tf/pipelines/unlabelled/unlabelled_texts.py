"""Unlabelled texts, prepared like the labelled ones of their task.

A corpus may have tokenized labelled texts and raw unlabelled ones, as FDU-MTL
does. The unlabelled ones may include texts of its test split, or of another
task's.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import TEXT, inputs
from mtl_tf.tasks.task import Task
from mtl_tf.text.tokenizers import treebank

_HELD_BACK = ("validation", "test")
_MARKS = re.compile(r"[\W_]+")


class Unlabelled(NamedTuple):
    """The texts of an unlabelled split.

    Attributes:
        texts: strings [n], UTF-8, by input feature.
        left_out: the number of texts that were held back.
        spaced: the features whose texts got Penn Treebank spacing.
    """

    texts: dict[str, np.ndarray]
    left_out: int
    spaced: tuple[str, ...]


def held_back(tasks: Iterable[Task]) -> set[tuple[str, ...]]:
    """The texts that no model of these tasks may train on, for `read`.

    Args:
        tasks: all tasks of a model. An unlabelled text of one may be a
            validation or test text of another. Tasks that read given words do
            not count.

    Raises:
        MtlError: as for `Task.dataset`.
    """
    return {
        row
        for task in tasks
        if all(feature.element == TEXT for feature in inputs(task.features))
        for split in _HELD_BACK
        if split in task.splits
        for row in _rows(_columns(task, split))
    }


def read(
    task: Task, split: str, held_back: Collection[tuple[str, ...]] = ()
) -> Unlabelled:
    """Reads the texts of a split for training without labels.

    If the training texts are tokenized and these are not, they get Penn
    Treebank spacing.

    Args:
        task: a task whose inputs are texts.
        split: a split of its source.
        held_back: the result of the function `held_back`. Texts that equal one
            of these, up to spaces, punctuation and case, are left out.

    Raises:
        MtlError: as for `Task.dataset`.
    """
    texts, training = _columns(task, split), _columns(task, "train")
    usable = [row not in held_back for row in _rows(texts)]
    spaced = tuple(
        name
        for name, column in texts.items()
        if only_these_are_raw(_decoded(column), _decoded(training[name]))
    )
    columns = {
        name: np.array(column, object)[np.array(usable, bool)]
        for name, column in texts.items()
    }
    for name in spaced:
        columns[name] = treebank.space(tf.constant(columns[name])).numpy()
    return Unlabelled(columns, len(usable) - sum(usable), spaced)


def dataset(texts: Mapping[str, np.ndarray]) -> tf.data.Dataset:
    """A dataset of examples with only these inputs."""
    tensors = {
        name: tf.constant(list(column), tf.string)
        for name, column in texts.items()
    }
    return tf.data.Dataset.from_tensor_slices(tensors)


def key(text: str) -> str:
    """A key that ignores spaces, punctuation and case."""
    return _MARKS.sub("", text).lower()


def only_these_are_raw(texts: Iterable[str], others: Iterable[str]) -> bool:
    """Whether punctuation sticks to words in `texts`, not in `others`."""
    return treebank.is_raw(texts) and not treebank.is_raw(others)


def _columns(task: Task, split: str) -> dict[str, list[bytes]]:
    """The inputs of a split, by feature."""
    columns = {feature.name: [] for feature in inputs(task.features)}
    for batch in fixed(batched(task.dataset(split))):
        for name, column in columns.items():
            column += batch[name].numpy().tolist()
    return columns


def _rows(columns: Mapping[str, list[bytes]]) -> Iterator[tuple[str, ...]]:
    """The keys of each example."""
    return zip(*(map(key, _decoded(column)) for column in columns.values()))


def _decoded(column: Iterable[bytes]) -> Iterator[str]:
    return (text.decode("utf-8", "replace") for text in column)
