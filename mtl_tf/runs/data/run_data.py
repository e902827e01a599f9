"""The data of a run: its tasks, its encoder and its encoded splits."""

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.datasets import lines
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.encoded_split import (
    EncodedSplit,
    alike,
    digest_of,
)
from mtl_tf.pipelines.schedule import buckets
from mtl_tf.prediction import task_types
from mtl_tf.runs import systems
from mtl_tf.runs.data import encoded_cache, kept_vocabularies, soft_targets
from mtl_tf.runs.data.encoded_cache import EncodedCache
from mtl_tf.runs.directory import seals
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.system import Pretrained, System, shared_dimension
from mtl_tf.tasks import checking, registry
from mtl_tf.tasks.splits.fractions import cut
from mtl_tf.tasks.task import Task
from mtl_tf.text.vectors import vectors


@dataclasses.dataclass(frozen=True)
class RunData:
    """The data that a run trains and validates on.

    Attributes:
        tasks: the tasks, in order of their numbers.
        encoder: converts texts to ids; see `System.build_text`.
        boundaries: padded lengths of the buckets, each a list if there are
            several time axes. By task name if each task has its own.
        axes: the time axes.
        train: the encoded training split of each task, all with the same
            columns; see `mtl_tf.pipelines.examples.encoded_split.alike`.
        validation: the encoded validation split of each task, likewise.
        targets: what each task's validation split is scored against, if not its
            encoded targets.
        inputs: the inputs of each task's validation split, if decoding always
            needs them.
        unlabelled: by task, the number of examples at the end of its training
            split whose labels are teachers' predictions.
    """

    tasks: list[Task]
    encoder: Any
    boundaries: list | dict[str, list]
    axes: tuple[str, ...]
    train: list[EncodedSplit]
    validation: list[EncodedSplit]
    targets: list[list[Any] | None]
    inputs: list[Sequence[Any]]
    unlabelled: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def labelled(self) -> "RunData":
        """The data without examples that have no real label."""
        train = [
            split.select(np.arange(len(split) - self.unlabelled[split.name]))
            if split.name in self.unlabelled
            else split
            for split in self.train
        ]
        return dataclasses.replace(self, train=train, unlabelled={})


def load(
    config: Mapping[str, Any],
    run: RunDirectory,
    data_dir: str | None,
    manual_dir: str | None,
    tasks: Sequence[Task] = (),
) -> RunData:
    """Reads the tasks of a config and encodes them for a run.

    The first call writes the vocabulary, the labels and a digest of the data
    into the run directory. Later calls read and compare them.

    Args:
        config: the run's config.
        run: the run directory.
        data_dir, manual_dir: see `Directories`.
        tasks: what `tasks_of` has returned for the config, if it was called.

    Raises:
        MtlError: wrong tasks or data, or data that changed since the run began.
    """
    seals.check(run)
    data_options = (data_dir, manual_dir, config["cross_validation"])
    tasks = list(tasks) or tasks_of(config, data_options[:2])
    system = system_of(tasks)
    system.check(config)
    encoder = make_encoder(config, run.file("vocabulary"), tasks, data_options)
    cache = encoded_cache.make(config, run, tasks)
    soft_targets.check_storage(config, cache is not None)
    train = [encode_split(task, "train", encoder, cache) for task in tasks]
    validation = [
        encode_split(task, "validation", encoder, cache) for task in tasks
    ]
    train, left_out = _for_training(system, train, config["text"])
    if cache:
        cache.keep_only([*train, *validation])
    train, unlabelled = soft_targets.added(config, run, tasks, train, encoder)
    for name, counts in unlabelled.items():
        left_out.setdefault(name, {})["unlabelled"] = counts
    digests = _digests(train, validation, left_out)
    train, validation = alike(train), alike(validation)
    axes = train[0].axes
    bucketed = train + validation * system.buckets_for_validation
    boundaries = _boundaries(config, bucketed, axes)
    run.check_or_write(
        "labels.json", {"tasks": [t.to_json() for t in tasks]}, "the labels"
    )
    run.check_or_write(
        "data.json",
        {"boundaries": boundaries, "axes": axes, "tasks": digests},
        "the data",
    )
    seals.note_code(run, config)
    if not seals.has(run, "labels.json"):
        seals.seal(run, "vocabulary", "labels.json")
        seals.seal_config(run)
    return RunData(
        tasks,
        encoder,
        boundaries,
        axes,
        train,
        validation,
        [_targets(task) for task in tasks],
        [_inputs(task) for task in tasks],
        {name: counts["kept"] for name, counts in unlabelled.items()},
    )


def tasks_of(config: Mapping[str, Any], directories: Directories) -> list[Task]:
    """The tasks of a run's config, as the run trains on them.

    Args:
        config: the run's config.
        directories: where data are.
    """
    tasks = registry.resolve(
        config["tasks"], *directories, config["cross_validation"]
    )
    check_named_tasks(config["training"], tasks)
    return cut(tasks, config["pipeline"]["fractions"])


def check_named_tasks(
    training: Mapping[str, Any], tasks: Iterable[Task]
) -> None:
    """Checks the fields that name tasks.

    Args:
        training: `training` of a config.
        tasks: the config's.

    Raises:
        ConfigError: a name is none of theirs.
    """
    known = {task.name: task for task in tasks}
    for field in ("main_tasks", "loss_weights"):
        for name in training[field]:
            look_up(name, known, f"task in training.{field}")


def _boundaries(
    config: Mapping[str, Any],
    splits: Sequence[EncodedSplit],
    axes: Sequence[str],
) -> list | dict[str, list]:
    """See `RunData`; `splits` are those that the buckets must suit."""
    pipeline = config["pipeline"]
    options = (config["text"]["max_length"], pipeline["bucket_multiple"], axes)
    if not pipeline["buckets_per_task"]:
        lengths = np.concatenate([split.lengths for split in splits])
        return buckets.make_boundaries(pipeline["buckets"], lengths, *options)
    lengths = {
        name: np.concatenate([s.lengths for s in splits if s.name == name])
        for name in dict.fromkeys(split.name for split in splits)
    }
    return buckets.make_task_boundaries(pipeline["buckets"], lengths, *options)


def system_of(tasks: Sequence[Task]) -> System:
    """The system of tasks, which must be the same for all.

    Raises:
        ConfigError: they have several systems.
    """
    types = {systems.of_type(task.type): task.type for task in tasks}
    if len(types) > 1:
        raise ConfigError(
            f"tasks of the types {' and '.join(sorted(types.values()))} have "
            "models of their own: they cannot be trained together"
        )
    return next(iter(types))


def _targets(task: Task) -> list[Any] | None:
    predictions = task_types.of(task.type)
    if predictions.targets_are_encoded:
        return None
    return predictions.targets(task, "validation")


def _inputs(task: Task) -> Sequence[Any]:
    predictions = task_types.of(task.type)
    if not predictions.decodes_inputs:
        return ()
    return predictions.inputs(task, "validation")


def make_encoder(
    config: Mapping[str, Any],
    path: str,
    tasks: Sequence[Task],
    data_options: tuple,
) -> Any:
    """The encoder of a run; the first call builds and saves it.

    Args:
        config: the run's config.
        path: the run's `vocabulary`.
        tasks: its tasks.
        data_options: `data_dir`, `manual_dir` and the config's
            `cross_validation`.

    Raises:
        MtlError: a wrong field, or wrong data.
    """
    if not os.path.isdir(path):
        entries = config["text"]["vocabulary_tasks"]
        group = registry.resolve(entries, *data_options) if entries else tasks
        system = system_of(tasks)
        for task in group:
            if systems.of_type(task.type) is not system:
                raise ConfigError(
                    f"text.vocabulary_tasks: the task {task.name!r} is of the "
                    f"type {task.type}, whose texts a run of the type "
                    f"{tasks[0].type} cannot read: leave it out"
                )
        system.check_group(*([task.name for task in t] for t in (tasks, group)))

        def build() -> Any:
            number = lines.count(len(group), "task")
            logging.info("Building the vocabulary of %s.", number)
            return system.build_text(
                group, config["text"], _pretrained(config), config["model"]
            )

        with files.new_directory(path) as directory:
            parts = [entries, config["text"], config["model"], data_options]
            # Without entries it is of this run's tasks, cut as it says.
            text = kept_vocabularies.of(parts, build) if entries else build()
            text.save(directory)
    return load_encoder(path, config, [task.to_json() for task in tasks])


def _pretrained(config: Mapping[str, Any]) -> Pretrained | None:
    """Tells which words the config's file of word vectors has, or None."""
    path = config["text"]["vectors"]
    if not path:
        return None
    size = shared_dimension(config["model"])
    return lambda words: vectors.with_vectors(path, words, size)


def load_encoder(
    path: str, config: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]
) -> Any:
    """Reads the encoder of a run.

    Args:
        path: the run's `vocabulary`.
        config: the run's config.
        tasks: name and type of each of its tasks.

    Raises:
        MtlError: a file is missing or damaged.
    """
    system = systems.of_type(tasks[0]["type"])
    return system.load_text(path, config, tasks)


def encode_split(
    task: Task, split: str, encoder: Any, cache: EncodedCache | None = None
) -> EncodedSplit:
    """Encodes a split of a task with the run's encoder.

    Args:
        task: the task.
        split: its split.
        encoder: the run's encoder.
        cache: the cache that keeps the columns; None for memory.

    Raises:
        MtlError: as for `Task.dataset`.
    """
    system = systems.of_type(task.type)
    examples = system.example_encoder(encoder, task.name, task.features)
    dataset = task.dataset(split)
    if cache:
        encoded = cache.encode(task, split, dataset, examples)
    else:
        encoded = encoding.encode(dataset, examples, name=task.name)
    for feature in task.features:
        if feature.is_class:
            labels = encoded.columns[feature.name].values
            checking.check_labelled(task.name, split, labels)
    return encoded


def _for_training(
    system: System,
    splits: Iterable[EncodedSplit],
    text_config: Mapping[str, Any],
) -> tuple[list[EncodedSplit], dict[str, dict[str, Any]]]:
    """The examples to train on, and the reasons for others, by task."""
    trained_on, left_out = [], {}
    for split in splits:
        rest, counts = system.for_training(split, text_config)
        trained_on.append(rest)
        if counts:
            left_out[split.name] = {"left_out": counts}
            logging.info(
                "task %s: %d of its %d training examples are left out (%s)",
                split.name,
                len(split) - len(rest),
                len(split),
                ", ".join(f"{reason} {n}" for reason, n in counts.items()),
            )
    return trained_on, left_out


def _digests(
    train: Iterable[EncodedSplit],
    validation: Iterable[EncodedSplit],
    left_out: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """What identifies the data of a run, by task, for `data.json`."""
    return {
        part.name: {
            "train": {**_digest(part), **left_out.get(part.name, {})},
            "validation": _digest(other),
        }
        for part, other in zip(train, validation)
    }


def _digest(split: EncodedSplit) -> dict[str, Any]:
    return {"examples": len(split), "digest": digest_of(split)}
