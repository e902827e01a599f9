"""The data of a run: its tasks, its encoder and its encoded splits."""

import dataclasses
import functools
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.evaluation.clean import SeenTexts
from mtl_tf.pipelines import buckets, encoding
from mtl_tf.pipelines.columns import with_all_answers
from mtl_tf.pipelines.encoding import EncodedSplit
from mtl_tf.pipelines.tuning import fixed
from mtl_tf.tasks import registry
from mtl_tf.tasks.task import Task, text_of
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.training.run_directory import RunDirectory


@dataclasses.dataclass(frozen=True)
class RunData:
    """What a run trains and validates on.

    Attributes:
        tasks: the tasks, in the order of their numbers.
        encoder: texts to ids.
        boundaries: padded lengths of the buckets.
        train: the encoded training split of each task, all with the same
            columns; see `mtl_tf.pipelines.columns.with_all_answers`.
        validation: the encoded validation split of each task, likewise.
    """

    tasks: list[Task]
    encoder: TextEncoder
    boundaries: list[int]
    train: list[EncodedSplit]
    validation: list[EncodedSplit]


def load(
    config: Mapping[str, Any],
    run: RunDirectory,
    data_dir: str | None,
    manual_dir: str | None,
) -> RunData:
    """Reads the tasks of a config and encodes them for a run.

    The first time the vocabulary, the labels and a digest of the data are
    written into the run directory; later they are read and compared.

    Raises:
        MtlError: wrong tasks or data, or data that changed since the run
            began.
    """
    where = (data_dir, manual_dir, config.get("cross_validation"))
    tasks = registry.resolve(config["tasks"], *where)
    vocabulary = run.file("vocabulary")
    if not os.path.isdir(vocabulary):
        entries = config["text"]["vocabulary_tasks"]
        group = registry.resolve(entries, *where) if entries else tasks
        logging.info("Building the vocabulary of %d tasks.", len(group))
        with files.new_directory(vocabulary) as directory:
            encoding.build_encoder(group, config["text"]).save(directory)
    encoder = TextEncoder.of_run(vocabulary, config["text"])
    train = _encode(tasks, "train", encoder)
    validation = _encode(tasks, "validation", encoder)
    boundaries = buckets.make_boundaries(
        config["pipeline"]["buckets"],
        np.concatenate([split.lengths for split in train + validation]),
        config["text"]["max_length"],
    )
    run.check_or_write(
        "labels.json", {"tasks": [t.to_json() for t in tasks]}, "the labels"
    )
    digests = {
        task.name: {"train": _digest(a), "validation": _digest(b)}
        for task, a, b in zip(tasks, train, validation)
    }
    run.check_or_write(
        "data.json", {"boundaries": boundaries, "tasks": digests}, "the data"
    )
    return RunData(
        tasks,
        encoder,
        boundaries,
        with_all_answers(train),
        with_all_answers(validation),
    )


def _encode(
    tasks: Iterable[Task], split: str, encoder: TextEncoder
) -> list[EncodedSplit]:
    return [
        encoding.encode(task.dataset(split), encoder, name=task.name)
        for task in tasks
    ]


def _digest(split: EncodedSplit) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=16)
    for name, column in sorted(split.columns.items()):
        digest.update(name.encode())
        digest.update(column.values.tobytes())
        if column.offsets is not None:
            digest.update(column.offsets.tobytes())
    return {"examples": len(split), "digest": digest.hexdigest()}


def texts(task: Task, split: str) -> list[bytes]:
    """All texts of a split, as bytes; given tokens are joined by spaces."""
    batches = fixed(task.dataset(split).map(text_of).batch(1024))
    return [t for batch in batches for t in batch.numpy()]


def sentences(
    task: Task, split: str
) -> tuple[list[list[str]], list[list[int]]]:
    """The tokens and the tags of all sentences of a tagging task's split.

    They are whole, however many tokens a model reads of a sentence: what it
    did not read has to count in its score.

    Raises:
        MtlError: as of `Task.dataset`.
    """
    tokens: list[list[str]] = []
    tags: list[list[int]] = []
    for batch in fixed(task.dataset(split).ragged_batch(1024)):
        tokens += [
            [token.decode("utf-8", "replace") for token in sentence]
            for sentence in batch["tokens"].to_list()
        ]
        tags += batch["tags"].to_list()
    return tokens, tags


class CleanParts:
    """Which test texts nobody has trained or selected on.

    Args:
        group: config entries of the tasks whose training and validation
            texts count as seen; a task of a known group stands for all of
            the group.
        data_dir: see `mtl_tf.tasks.registry.resolve`.
        manual_dir: the same.
        cross_validation: the same.
    """

    def __init__(
        self,
        group: Sequence[Any],
        data_dir: str | None,
        manual_dir: str | None,
        cross_validation: Mapping[str, int] | None = None,
    ):
        self.group = list(group)
        self.where = (data_dir, manual_dir, cross_validation)

    @property
    def tasks(self) -> list[Task]:
        """The tasks of the group."""
        tasks = {}
        for entry in self.group:
            whole = registry.group_of(entry, *self.where)
            tasks.update({task.name: task for task in whole.tasks})
        return list(tasks.values())

    @functools.cached_property
    def seen(self) -> SeenTexts:
        """The training and validation texts of the whole group."""
        logging.info("Reading the texts that no clean test example repeats.")
        return SeenTexts(
            *(
                texts(task, split)
                for task in self.tasks
                for split in ("train", "validation")
            )
        )

    def about(self, task: Task, split: str) -> dict[str, Any]:
        """What `evaluator.TaskPredictions` has to know of a split.

        Args:
            task: the task.
            split: the split that is scored.

        Returns:
            `clean` and `validation_in_training`; nothing for a split that
            training or selection has seen.
        """
        if split in ("train", "validation"):
            return {}
        training = SeenTexts(texts(task, "train"))
        return {
            "clean": self.seen.clean(texts(task, split)),
            "validation_in_training": training.count(texts(task, "validation")),
        }


def encode_texts(encoder: TextEncoder, strings: Sequence[str]) -> EncodedSplit:
    """Encodes strings without labels."""
    encoded = [s.encode("utf-8", errors="replace") for s in strings]
    data = {"text": tf.constant(encoded, tf.string, shape=[len(encoded)])}
    return encoding.encode(tf.data.Dataset.from_tensor_slices(data), encoder)


def encode_tokens(
    encoder: TextEncoder, sentences: Sequence[Sequence[str]]
) -> EncodedSplit:
    """Encodes sentences of given tokens without tags."""
    flat = [
        token.encode("utf-8", errors="replace")
        for sentence in sentences
        for token in sentence
    ]
    tokens = tf.RaggedTensor.from_row_lengths(
        tf.constant(flat, tf.string, shape=[len(flat)]),
        np.array([len(sentence) for sentence in sentences], np.int64),
    )
    data = tf.data.Dataset.from_tensor_slices({"tokens": tokens})
    return encoding.encode(data, encoder)
