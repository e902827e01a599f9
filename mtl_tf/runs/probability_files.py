"""Files of the probabilities that runs give to the labels of texts.

A file is of one task: NumPy's .npz with `keys`, digests of the examples'
inputs, `scores`, float32 [examples, labels], and `labels`, their names. What
was not at hand when a file was written is looked up in it by its digest.
"""

import dataclasses
import hashlib
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.pipelines import unlabelled_texts
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.features import TEXT, inputs
from mtl_tf.tasks.task import SPLITS, Task

#: Of a baseline's run: what it says, since its model is not kept.
FOLDER = "probabilities"
_AT_ONCE = 1024
_DIGEST = 12  # bytes


class Table(NamedTuple):
    """The probabilities of some examples of a task.

    Attributes:
        keys: bytes [n], see `keys_of`; no two rows have to differ.
        scores: float32 [n, labels].
        labels: their names.
    """

    keys: np.ndarray
    scores: np.ndarray
    labels: tuple[str, ...]


def dataset_of(task: Task, split: str) -> tf.data.Dataset:
    """A split of a task, read as often as it is gone through.

    Args:
        task: the task.
        split: its split; one that is none of train, validation and test is
            read as texts without labels are (`unlabelled_texts`), once. All
            are: which of them a model may not see, it knows itself.

    Raises:
        ConfigError: the examples are not texts.
    """
    if any(feature.element != TEXT for feature in inputs(task.features)):
        raise ConfigError(
            f"the task {task.name} reads words that are given one by one: "
            "only tasks of whole texts have probabilities"
        )
    if split in SPLITS:
        return task.dataset(split)
    return unlabelled_texts.dataset(unlabelled_texts.read(task, split).texts)


def batches(
    task: Task, dataset: tf.data.Dataset
) -> Iterator[dict[str, tf.Tensor]]:
    """Yields the inputs of examples, some after others.

    Args:
        task: the task.
        dataset: of its examples, such as `dataset_of` returns.

    Yields:
        Strings [n] by the names of the task's input features.
    """
    names = [feature.name for feature in inputs(task.features)]
    for batch in fixed(dataset.batch(_AT_ONCE)):
        yield {name: batch[name] for name in names}


def keys_of(examples: Mapping[str, Any]) -> np.ndarray:
    """Digests of examples, bytes [n]: of all their texts, by name.

    Args:
        examples: strings [n] by name.
    """
    columns = [np.asarray(examples[name]) for name in sorted(examples)]
    keys = []
    for texts in zip(*columns):
        digest = hashlib.blake2b(digest_size=_DIGEST)
        for text in texts:
            digest.update(len(text).to_bytes(8, "little") + text)
        keys.append(digest.digest())
    return np.array(keys, f"V{_DIGEST}")


def keys_of_split(task: Task, split: str) -> np.ndarray:
    """Digests of the examples of a split, bytes [n], in their order.

    Raises:
        ConfigError: the examples are not texts.
        MtlError: as of `Task.dataset`.
    """
    keys = map(keys_of, batches(task, dataset_of(task, split)))
    return np.concatenate([np.zeros([0], f"V{_DIGEST}"), *keys])


def digest(keys: np.ndarray) -> str:
    """One digest of those of examples, in their order."""
    return hashlib.blake2b(keys.tobytes(), digest_size=_DIGEST).hexdigest()


def marked(
    predictions: TaskPredictions, task: Task, split: str
) -> TaskPredictions:
    """What was said of a split, with a digest of what its examples read.

    Only of types with probabilities of whole examples, which can be looked up.
    """
    are_texts = all(
        feature.element == TEXT for feature in inputs(task.features)
    )
    if scoring.of(task.type).probabilities is None or not are_texts:
        return predictions
    return dataclasses.replace(
        predictions, examples=digest(keys_of_split(task, split))
    )


def path_of(folder: str, task: str) -> str:
    """The file of a task in a folder."""
    return os.path.join(folder, f"{task}.npz")


def write(folder: str, task: str, table: Table) -> str:
    """Writes the file of a task, all of it or nothing; returns its path.

    Raises:
        RunError: the folder cannot be written to.
    """
    files.make_directory(folder)
    path = path_of(folder, task)
    with files.replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(
            file,
            keys=table.keys,
            scores=np.asarray(table.scores, np.float32),
            labels=np.array(table.labels, str),
        )
    return path


def read(folder: str, task: str) -> Table:
    """Reads the file of a task.

    Raises:
        RunError: it is missing or holds something else.
    """
    path = path_of(folder, task)
    try:
        with np.load(path, allow_pickle=False) as file:
            table = Table(
                file["keys"], file["scores"], tuple(file["labels"].tolist())
            )
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror or error}")
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise RunError(
            f"{path} must hold keys, scores and labels, as launch.ensemble "
            f"--save_probabilities writes them: {error}"
        )
    if table.scores.shape != (len(table.keys), len(table.labels)):
        raise RunError(
            f"{path} has scores of the shape {table.scores.shape}, but "
            f"{len(table.keys)} keys and {len(table.labels)} labels"
        )
    return table


def looked_up(table: Table, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of examples, and whether they are in a table.

    Args:
        table: of the examples' task.
        keys: bytes [n], of the examples.

    Returns:
        Integers [n], places in the table, and bool [n].
    """
    if not len(table.keys):
        return np.zeros(len(keys), int), np.zeros(len(keys), bool)
    # Of equal texts any row: a model says the same of them.
    known, first = np.unique(_sortable(table.keys), return_index=True)
    asked = _sortable(keys)
    places = np.searchsorted(known, asked).clip(0, len(known) - 1)
    return first[places], known[places] == asked


def _sortable(keys: np.ndarray) -> np.ndarray:
    """As strings of hexadecimal digits: NumPy does not order raw bytes."""
    return np.array([bytes(key).hex() for key in keys], f"U{2 * _DIGEST}")


def in_order(table: Table, labels: Sequence[str]) -> np.ndarray:
    """The scores with the labels in another order.

    Raises:
        ConfigError: the labels are others.
    """
    if sorted(labels) != sorted(table.labels):
        raise ConfigError(
            f"the probabilities are of the labels {', '.join(table.labels)}, "
            f"but the task has {', '.join(labels)}"
        )
    order = [table.labels.index(label) for label in labels]
    return table.scores[:, order]
