"""Teachers' probabilities as columns of a run's training examples.

`teachers` has computed them once, in the run's folder `teachers`. Here they are
added next to the labels, and unlabelled texts after the labelled ones. The
heads read them (`mtl_tf.layers.heads.distillation`).
"""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.layers.heads import distillation
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.unlabelled import unlabelled_texts
from mtl_tf.runs import systems
from mtl_tf.runs.data import probability_files
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks.features import inputs, targets
from mtl_tf.tasks.task import Task

FOLDER, UNLABELLED = "teachers", "unlabelled"


def folders(run: RunDirectory) -> tuple[str, str]:
    """The folders in a run for labelled texts and for unlabelled ones."""
    return run.file(FOLDER), run.file(FOLDER, UNLABELLED)


def added(
    config: Mapping[str, Any],
    run: RunDirectory,
    tasks: Sequence[Task],
    train: Sequence[EncodedSplit],
    encoder: Any,
) -> tuple[list[EncodedSplit], dict[str, dict[str, int]]]:
    """The training splits with the teachers' predictions.

    Args:
        config: the run's config.
        run: its directory; it has the teachers' files if the config names
            teachers.
        tasks: its tasks.
        train: the encoded training split of each.
        encoder: the run's encoder.

    Returns:
        The splits; and for tasks with unlabelled texts the numbers of texts
        "read" and "kept". The kept ones follow the labelled ones.

    Raises:
        RunError: a file is missing or damaged.
        DataError: the number of examples has changed since then.
    """
    if not config["training"]["teachers"]:
        return list(train), {}
    splits, counts = [], {}
    held_back = set()
    if config["training"]["distillation"]["unlabelled"]:
        held_back = unlabelled_texts.held_back(tasks)
    for task, split in zip(tasks, train):
        taught = _Taught(config, run, task)
        split = taught.labelled(split)
        more = taught.unlabelled(split, encoder, held_back)
        if more is not None:
            counts[task.name] = {"read": taught.read, "kept": len(more)}
            if config["training"]["distillation"]["confidence"]:
                logging.info(
                    "%s: the teachers are sure enough of %s of %s texts "
                    "without labels.",
                    task.name,
                    f"{len(more):,}",
                    f"{taught.read:,}",
                )
            split = _joined(split, more)
        splits.append(split)
    return splits, counts


def check_storage(config: Mapping[str, Any], on_disk: bool) -> None:
    """Refuses unlabelled texts for splits that are kept on disk.

    Raises:
        ConfigError: the config asks for both.
    """
    if config["training"]["distillation"]["unlabelled"] and on_disk:
        raise ConfigError(
            "training.distillation.unlabelled needs examples in memory, and "
            "those of large corpora lie on disk: set pipeline.storage to "
            "'memory'"
        )


def encode_unlabelled(
    task: Task,
    split: str,
    encoder: Any,
    held_back: Collection[tuple[str, ...]] = (),
) -> EncodedSplit:
    """Encodes the inputs of texts without labels; see `unlabelled_texts`.

    Args:
        task: the task, whose inputs are texts.
        split: a split of its source.
        encoder: the run's encoder.
        held_back: the texts to leave out.

    Raises:
        MtlError: as for `Task.dataset`.
    """
    system = systems.of_type(task.type)
    examples = system.example_encoder(encoder, task.name, inputs(task.features))
    texts = unlabelled_texts.read(task, split, held_back).texts
    dataset = unlabelled_texts.dataset(texts)
    return encoding.encode(dataset, examples, task.name)


class _Taught:
    """The teachers' predictions for one task.

    Attributes:
        read: the number of unlabelled texts, kept or not.
    """

    def __init__(
        self, config: Mapping[str, Any], run: RunDirectory, task: Task
    ):
        self._options = config["training"]["distillation"]
        self._folders, self._task = folders(run), task
        self.read = 0

    def _scores(self, folder: str, examples: int, split: str) -> np.ndarray:
        table = probability_files.read(folder, self._task.name)
        if len(table.keys) != examples:
            raise DataError(
                f"task {self._task.name}: the split {split} has {examples} "
                f"examples, and the teachers were asked about "
                f"{len(table.keys)}: restore the data, or name another "
                "--model_dir"
            )
        return probability_files.in_order(table, self._task.labels)

    def labelled(self, split: EncodedSplit) -> EncodedSplit:
        """The labelled examples, with the teachers' columns if any."""
        folder = self._folders[0]
        if not _has(folder, self._task):
            return split
        scores = self._scores(folder, len(split), "train")
        return split.with_columns(self._columns(scores, self._soft_share))

    @property
    def _soft_share(self) -> float:
        return 1.0 - self._options["hard_weight"]

    def _columns(self, scores: np.ndarray, share: float) -> dict[str, Column]:
        temperature = self._options["temperature"]
        return {
            distillation.SCORES: Column(scores.astype(np.float32)),
            distillation.SHARE: _constant(share, len(scores)),
            distillation.TEMPERATURE: _constant(temperature, len(scores)),
        }

    def unlabelled(
        self,
        split: EncodedSplit,
        encoder: Any,
        held_back: Collection[tuple[str, ...]],
    ) -> EncodedSplit | None:
        """The unlabelled texts with confident teachers, or None."""
        folder, task = self._folders[1], self._task
        if not _has(folder, task):
            return None
        name = self._options["unlabelled"]
        encoded = encode_unlabelled(task, name, encoder, held_back)
        scores = self._scores(folder, len(encoded), name)
        self.read = len(encoded)
        kind = scoring.of(task.type).probabilities
        sure = kind.confidence(scores) >= self._options["confidence"]
        encoded, scores = encoded.select(sure), scores[sure]
        (target,) = targets(task.features)
        known = split.columns[target.name].values
        # Stands in for the label in class weights and balanced drawing.
        answer = kind.predicted(scores).astype(known.dtype)
        answer = answer.reshape([len(scores), *known.shape[1:]])
        more = {target.name: Column(answer)} | self._columns(scores, 1.0)
        return encoded.with_columns(more)


def _has(folder: str, task: Task) -> bool:
    return os.path.exists(probability_files.path_of(folder, task.name))


def _constant(value: float, rows: int) -> Column:
    return Column(np.full([rows], value, np.float32))


def _joined(split: EncodedSplit, more: EncodedSplit) -> EncodedSplit:
    columns = {
        name: Column.join([column, more.columns[name]])
        for name, column in split.columns.items()
    }
    return EncodedSplit(split.name, columns)
