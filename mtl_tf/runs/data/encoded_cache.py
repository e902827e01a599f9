"""Keeps encoded splits of a run in files of its directory."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from mtl_tf.core import digests
from mtl_tf.pipelines.examples import disk_encoding
from mtl_tf.pipelines.examples.disk_split import DiskSplit
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.examples.encoding import ExampleEncoder
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks.task import Task

FOLDER = "encoded"
# About 250 MB of texts of 100 words, with tensors and their copies.
_MOST_IN_MEMORY = 200_000


def make(
    config: Mapping[str, Any], run: RunDirectory, tasks: Sequence[Task]
) -> "EncodedCache | None":
    """The cache of a run's encoded splits, by `pipeline.storage`.

    Args:
        config: the run's config.
        run: its directory, which has a vocabulary.
        tasks: its tasks.

    Returns:
        None if the splits are kept in memory.
    """
    return EncodedCache(config, run) if on_disk(config, tasks) else None


def on_disk(config: Mapping[str, Any], tasks: Sequence[Task]) -> bool:
    """Whether the encoded splits of a run are kept on disk.

    Args:
        config: the run's config.
        tasks: its tasks.
    """
    storage = config["pipeline"]["storage"]
    if storage == "auto":
        splits = ("train", "validation")
        count = sum(task.size(split) for task in tasks for split in splits)
        return count > _MOST_IN_MEMORY
    return storage == "disk"


class EncodedCache:
    """Encoded splits in files, each in a folder named by digests.

    Args:
        config: the run's config.
        run: its directory, which has a vocabulary.
    """

    def __init__(self, config: Mapping[str, Any], run: RunDirectory):
        self._folder = run.file(FOLDER)
        vocabulary = run.file("vocabulary")
        names = digests.files_below(vocabulary)
        self._text = {
            "text": dict(config["text"]),
            "vocabulary": digests.of_files(vocabulary, names),
        }

    def encode(
        self,
        task: Task,
        split: str,
        dataset: tf.data.Dataset,
        encoder: ExampleEncoder,
    ) -> DiskSplit:
        """The encoded examples of a split; read from files if they exist.

        Args:
            task: the task.
            split: the name of its split.
            dataset: the split's examples.
            encoder: the task's encoder.

        Raises:
            RunError: the folder is not writable.
        """
        logging.info("Encoding %s of task %s on disk.", split, task.name)
        described = {**self._text, "task": task.to_json()}
        return disk_encoding.encode(
            dataset, encoder, self._folder, described, task.name
        )

    def keep_only(self, splits: Iterable[EncodedSplit]) -> None:
        """Removes folders that the splits are neither in nor made from.

        These belong to other data, or to a process killed while writing.
        """
        places = (
            split.directory for split in splits if isinstance(split, DiskSplit)
        )
        # Selected examples are next to the whole split: `name-selection`.
        prefixes = {
            os.path.basename(place).partition("-")[0] for place in places
        }
        for name in os.listdir(self._folder):
            if name.partition("-")[0] not in prefixes:
                path = os.path.join(self._folder, name)
                shutil.rmtree(path, ignore_errors=True)
