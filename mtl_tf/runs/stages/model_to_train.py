"""Makes the model that a run trains, with its initial weights."""

import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from absl import logging

from mtl_tf.core import passes, random
from mtl_tf.pipelines.examples.encoded_split import count_ids
from mtl_tf.runs import initializing, systems
from mtl_tf.runs.building import build
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.system import shared_dimension
from mtl_tf.text.vectors.vectors import load_vectors
from mtl_tf.training.distribution.workers import Workers
from mtl_tf.training.optimizers import freezing

# Of the texts in which n-grams are counted. All texts of a batch are as long
# as its longest.
_TEXTS_AT_ONCE = 256
_TOKENS_AT_ONCE = 16_384


def make(
    config: dict[str, Any],
    run: RunDirectory,
    loaded: run_data.RunData,
    workers: Workers,
) -> keras.Model:
    """Builds the model; call it in the scope of the strategy.

    A new run takes pretrained vectors and the weights of another run; the chief
    records which (`vectors.json`, `initialized.json`). A resumed run has its
    weights in its checkpoint, which is restored later.

    Args:
        config: the run's config.
        run: its directory.
        loaded: its data.
        workers: the training processes.

    Raises:
        MtlError: vectors or another run's weights do not fit.
    """
    is_new = not run.has(os.path.join("checkpoints", "checkpoint"))
    vectors = None
    if is_new and config["text"]["vectors"]:
        vectors = _pretrained(config, run, loaded, workers)
    model = build(
        config,
        loaded.encoder,
        [task.to_json() for task in loaded.tasks],
        vectors,
        seed=random.fold(config["seed"], "init"),
    )
    if is_new:
        system = systems.of_type(loaded.tasks[0].type)
        system.set_pretrained(model, config, loaded.encoder)
        model.adapt(_batches(loaded))
        if config["training"]["initialize_from"]:
            _initialize(config, run, loaded, model, workers)
    return model


def _batches(loaded: run_data.RunData) -> Iterator[dict[str, np.ndarray]]:
    """The texts to train on, as batches of one group."""
    for number, split in enumerate(loaded.train):
        logging.info("Counting in the texts of %s", split.name)
        lengths = split.lengths
        starts = range(0, len(split), _TEXTS_AT_ONCE)
        for first in passes.logged(
            starts,
            f"{split.name}: counting n-grams",
            _TEXTS_AT_ONCE,
            len(split),
        ):
            rows = np.arange(first, min(first + _TEXTS_AT_ONCE, len(split)))
            longest = max(1, lengths[rows].max())
            parts = -(-len(rows) * longest // _TOKENS_AT_ONCE)
            for part in np.array_split(rows, min(parts, len(rows))):
                columns = split.gather(part, lengths[part].max(axis=0))
                yield {
                    "task": np.array([number], np.int32),
                    **{name: value[None] for name, value in columns.items()},
                }
            split.release()


def _initialize(
    config: dict[str, Any],
    run: RunDirectory,
    loaded: run_data.RunData,
    model: keras.Model,
    workers: Workers,
) -> None:
    """Copies weights of another run; records and logs which."""
    directory = config["training"]["initialize_from"]
    report = initializing.initialize(
        model,
        initializing.read_source(directory),
        [task.name for task in loaded.tasks],
        systems.of_type(loaded.tasks[0].type).words_of(loaded.encoder),
        {task.name: task.labels for task in loaded.tasks},
        config["training"]["initialize_only"],
    )
    taken = {entry["path"] for entry in report["taken"]}
    if not taken:
        logging.warning(
            "training.initialize_from: no weight of %s fits this model; "
            "initialized.json of this run says why.",
            directory,
        )
    for weight in freezing.frozen(model, config["training"]["freeze"]):
        if freezing.path_of(weight) not in taken:
            logging.warning(
                "%s is frozen with random values: %s has no weights that fit.",
                freezing.path_of(weight),
                directory,
            )
    if workers.is_chief:
        run.write("initialized.json", report)


def _pretrained(
    config: dict[str, Any],
    run: RunDirectory,
    loaded: run_data.RunData,
    workers: Workers,
) -> np.ndarray:
    """The pretrained word vectors; records and logs their coverage."""
    system = systems.of_type(loaded.tasks[0].type)
    vocabulary = loaded.encoder.vocabulary
    vectors, report = load_vectors(
        config["text"]["vectors"],
        vocabulary,
        shared_dimension(config["model"]),
        random.fold(config["seed"], "vectors"),
    )
    covered = []
    for split in loaded.train:
        ids = system.word_ids(split, loaded.encoder)
        counts = count_ids(split, ids, len(vocabulary))
        used = {
            vocabulary.tokens[n]: int(counts[n]) for n in counts.nonzero()[0]
        }
        covered.append(report.coverage(split.name, used))
        logging.info("vectors cover %s", covered[-1])
    tasks = [dataclasses.asdict(c) for c in covered]
    if workers.is_chief:
        run.write("vectors.json", {**report.to_json(), "tasks": tasks})
    return vectors
