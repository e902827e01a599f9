"""Shows a task's examples and lengths as a model reads them."""

import dataclasses
import functools
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.directories import Directories
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.runs import systems
from mtl_tf.runs.data import encoded_cache, run_data
from mtl_tf.runs.directory import own_files
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.system import System
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import LABELS, WORDS, Feature, targets
from mtl_tf.tasks.splits.fractions import cut
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_statistics import ordered_splits
from mtl_tf.text.encoding.token_columns import ShownToken, TokenColumn

# The column of each example's index before some are left out.
_PLACE = "place"


@dataclasses.dataclass(frozen=True)
class TextLengths:
    """The texts of one split of a task, as a model reads them.

    Attributes:
        split: its name within the task.
        texts: the texts' names; several are concatenated.
        lengths: int64 [examples], the tokens of each whole text, including
            special ones.
        unknown: the share of unknown tokens among those read.
        cut: the share of texts that are cut; None if none ever is.
        left_out: the number of examples not trained on, by reason.
    """

    split: str
    texts: tuple[str, ...]
    lengths: np.ndarray
    unknown: float
    cut: float | None
    left_out: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class ShownExample:
    """A training example as a model reads it.

    Attributes:
        place: its location.
        raw: its texts by name, as given.
        tokens: the tokens of each text, or of concatenated texts.
        targets: the targets by name, in words.
    """

    place: str
    raw: Mapping[str, str]
    tokens: Mapping[tuple[str, ...], Sequence[ShownToken]]
    targets: Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class TaskPreview:
    """What a model would read of a task.

    Attributes:
        name: the task's name.
        texts: statistics for each split and text.
        examples: the first training examples.
    """

    name: str
    texts: Sequence[TextLengths]
    examples: Sequence[ShownExample]


def previews(
    config: Mapping[str, Any],
    tasks: Sequence[Task],
    directories: Directories,
    examples: int,
) -> list[TaskPreview]:
    """Encodes the splits of tasks as a training would, and describes them.

    The vocabulary is built from the training texts, as for a run. What a run
    would keep in its directory is in a temporary one.

    Args:
        config: a validated config.
        tasks: the tasks of the config's `tasks`.
        directories: where data are.
        examples: the number of examples to show for each task.

    Raises:
        MtlError: wrong tasks, options or data, as in a training.
    """
    config = own_files.absolute(json.loads(json.dumps(config)))
    run_data.check_named_tasks(config["training"], tasks)
    tasks = cut(tasks, config["pipeline"]["fractions"])
    by_task: dict[str, TaskPreview] = {}
    for system, group in _groups(config, tasks):
        system.check(config)
        with tempfile.TemporaryDirectory() as folder:
            run = RunDirectory(folder)
            folds = config["cross_validation"]
            encoder = run_data.make_encoder(
                config, run.file("vocabulary"), group, (*directories, folds)
            )
            cache = encoded_cache.make(config, run, group)
            for task in group:
                logging.info("Encoding task %s.", task.name)
                reader = _Reader(config, system, task, encoder, cache)
                by_task[task.name] = reader.preview(examples)
    return [by_task[task.name] for task in tasks]


def _groups(
    config: dict[str, Any], tasks: Sequence[Task]
) -> list[tuple[System, list[Task]]]:
    """The tasks that share a system and a vocabulary."""
    if not config["train_separately"]:
        return [(run_data.system_of(tasks), list(tasks))]
    # Single-task models know the words of all tasks, as in `training_run`.
    text = config["text"]
    text["vocabulary_tasks"] = text["vocabulary_tasks"] or config["tasks"]
    groups: dict[System, list[Task]] = {}
    for task in tasks:
        groups.setdefault(systems.of_type(task.type), []).append(task)
    return list(groups.items())


@dataclasses.dataclass(frozen=True)
class _Reader:
    """Reads a task as a run does; the attributes are the run's."""

    config: Mapping[str, Any]
    system: System
    task: Task
    encoder: Any
    cache: encoded_cache.EncodedCache | None

    def preview(self, examples: int) -> TaskPreview:
        """Reads all splits of the task."""
        lengths: list[TextLengths] = []
        shown_examples: list[ShownExample] = []
        for split in ordered_splits(self.task):
            encoded = run_data.encode_split(
                self.task, split, self.encoder, self.cache
            )
            left_out: Mapping[str, int] = {}
            if split == "train":
                places, left_out = self._trained_on(encoded)
                shown_examples = [
                    self._show(encoded, i) for i in places[:examples]
                ]
            lengths += self._lengths(split, encoded, left_out)
        return TaskPreview(self.task.name, lengths, shown_examples)

    @functools.cached_property
    def _columns(self) -> Mapping[str, TokenColumn]:
        return self.system.example_encoder(
            self.encoder, self.task.name, self.task.features
        ).token_columns()

    def _trained_on(
        self, encoded: EncodedSplit
    ) -> tuple[np.ndarray, Mapping[str, int]]:
        """Indices of the training examples, and why others are left out."""
        numbers = Column(np.arange(len(encoded)))
        rest, left_out = self.system.for_training(
            EncodedSplit(encoded.name, {**encoded.columns, _PLACE: numbers}),
            self.config["text"],
        )
        return rest.columns[_PLACE].values, left_out

    def _lengths(
        self, split: str, encoded: EncodedSplit, left_out: Mapping[str, int]
    ) -> Iterator[TextLengths]:
        columns = self._columns
        whole: dict[str, list[np.ndarray]] = {n: [] for n in columns}
        if any(column.limit for column in columns.values()):
            for batch in batched(self.task.dataset(split)):
                for name, column in columns.items():
                    whole[name].append(column.whole_lengths(batch))
        for name, column in columns.items():
            ids = encoded.columns[name]
            unknown = column.is_unknown(np.asarray(ids.values))
            lengths = read = ids.lengths
            if whole[name]:
                lengths = np.concatenate(whole[name])
            yield TextLengths(
                split,
                tuple(column.texts),
                lengths,
                float(unknown.mean()) if len(unknown) else 0.0,
                _share(lengths > read) if column.limit else None,
                left_out,
            )

    def _show(self, encoded: EncodedSplit, place: int) -> ShownExample:
        dataset = self.task.dataset("train").skip(int(place)).take(1)
        (example,) = batched(dataset, 1)
        strings = [f for f in self.task.features if f.is_string]
        return ShownExample(
            self.task.place("train", int(place)),
            {f.name: _raw(f, example[f.name]) for f in strings},
            {
                tuple(column.texts): column.shown_tokens(
                    encoded.columns[name][place], example
                )
                for name, column in self._columns.items()
            },
            {
                f.name: self._target(f, encoded.columns[f.name][place])
                for f in targets(self.task.features)
                if not f.is_string
            },
        )

    def _target(self, feature: Feature, value: np.ndarray) -> str:
        """A target in words."""
        if feature.element != LABELS:
            return " ".join(f"{number:g}" for number in np.ravel(value))
        if feature.axes and not feature.time:
            # One place for each label, positive if the example has it.
            value = np.flatnonzero(np.asarray(value) > 0)
        labels = self.task.labels
        names = [
            (labels[i] if labels else str(i)) if i >= 0 else "(none)"
            for i in np.ravel(value)
        ]
        between = " " if feature.time else ", "
        return between.join(names) or "(none)"


def _share(mask: np.ndarray) -> float:
    return float(np.mean(mask)) if len(mask) else 0.0


def _raw(feature: Feature, values: tf.Tensor | tf.RaggedTensor) -> str:
    """The text of a batch of one example; words are joined by spaces."""
    value = values[0].numpy()
    if feature.element == WORDS:
        return " ".join(
            word.decode(errors="replace") for word in value.tolist()
        )
    return value.decode(errors="replace")
