"""Files of the label probabilities that runs predict for texts.

A file belongs to one task. It is NumPy's .npz with `keys`, digests of the
examples' inputs; `scores`, float32 [examples, labels]; and `labels`, their
names. Examples are found in it by their digests.
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
from mtl_tf.pipelines.unlabelled import unlabelled_texts
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.features import TEXT, inputs
from mtl_tf.tasks.task import SPLITS, Task

#: The predictions of a baseline's run, whose model is not kept.
FOLDER = "probabilities"
_AT_ONCE = 1024
_DIGEST = 12  # bytes


class Table(NamedTuple):
    """The probabilities of some examples of a task.

    Attributes:
        keys: bytes [n], see `keys_of`; rows may repeat.
        scores: float32 [n, labels].
        labels: the label names.
    """

    keys: np.ndarray
    scores: np.ndarray
    labels: tuple[str, ...]


def dataset_of(task: Task, split: str) -> tf.data.Dataset:
    """A split of a task, read anew in every pass.

    Args:
        task: the task.
        split: its split. A split other than train, validation and test is read
            once, as unlabelled texts are (`unlabelled_texts`), with all of its
            texts. A model itself knows which of them it may not see.

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
    """Yields the inputs of examples, some at a time.

    Args:
        task: the task.
        dataset: its examples, such as from `dataset_of`.

    Yields:
        Strings [n] by the names of the task's input features.
    """
    names = [feature.name for feature in inputs(task.features)]
    for batch in fixed(dataset.batch(_AT_ONCE)):
        yield {name: batch[name] for name in names}


def keys_of(examples: Mapping[str, Any]) -> np.ndarray:
    """Digests of examples, bytes [n], over all their texts by name.

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
        MtlError: as for `Task.dataset`.
    """
    keys = map(keys_of, batches(task, dataset_of(task, split)))
    return np.concatenate([np.zeros([0], f"V{_DIGEST}"), *keys])


def digest(keys: np.ndarray) -> str:
    """One digest of the examples' digests, in order."""
    return hashlib.blake2b(keys.tobytes(), digest_size=_DIGEST).hexdigest()


def marked(
    predictions: TaskPredictions, task: Task, split: str
) -> TaskPredictions:
    """Adds a digest of the examples' inputs to predictions of a split.

    Only for types with probabilities of whole examples, which can be looked up.
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
    """The path of a task's file in a folder."""
    return os.path.join(folder, f"{task}.npz")


def write(folder: str, task: str, table: Table) -> str:
    """Writes the file of a task atomically; returns its path.

    Raises:
        RunError: the folder is not writable.
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
        RunError: it is missing or has other contents.
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
    """Finds examples in a table.

    Args:
        table: the table of the examples' task.
        keys: bytes [n], the examples' keys.

    Returns:
        Integers [n], row indices in the table, and bool [n], whether it has
        them.
    """
    if not len(table.keys):
        return np.zeros(len(keys), int), np.zeros(len(keys), bool)
    # Any row of equal texts, as a model predicts the same for all.
    known, first = np.unique(_sortable(table.keys), return_index=True)
    asked = _sortable(keys)
    places = np.searchsorted(known, asked).clip(0, len(known) - 1)
    return first[places], known[places] == asked


def _sortable(keys: np.ndarray) -> np.ndarray:
    """Keys as hexadecimal strings, as NumPy cannot sort raw bytes."""
    return np.array([bytes(key).hex() for key in keys], f"U{2 * _DIGEST}")


def in_order(table: Table, labels: Sequence[str]) -> np.ndarray:
    """The scores with the labels in another order.

    Raises:
        ConfigError: the labels differ.
    """
    if sorted(labels) != sorted(table.labels):
        raise ConfigError(
            f"the probabilities are of the labels {', '.join(table.labels)}, "
            f"but the task has {', '.join(labels)}"
        )
    order = [table.labels.index(label) for label in labels]
    return table.scores[:, order]
