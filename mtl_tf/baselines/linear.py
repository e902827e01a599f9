"""The linear baseline: an SVM on TF-IDF features, shared between tasks.

Before a neural model is believed it has to beat this one, which reads a
thousand reviews in a second and needs no pretrained vectors.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.baselines import svm, yardsticks
from mtl_tf.baselines import task_types as answers
from mtl_tf.baselines.ngrams import scikit_learn
from mtl_tf.core import checks, files
from mtl_tf.core import task_types as type_names
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.evaluation import environment, evaluator, scored_examples
from mtl_tf.evaluation.tables import tables
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.runs.data import probability_files, run_data, soft_targets
from mtl_tf.runs.data.run_data import RunData
from mtl_tf.runs.directory import run_results
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks.task import SPLITS, Task


def train(
    config: Mapping[str, Any],
    model_dir: str,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    features: str = "shared_private",
    probabilities_of: Sequence[str] = (),
) -> dict[str, Any]:
    """Trains and evaluates the linear baseline on the tasks of a config.

    Of the config count `tasks`, `text`, `seed` and `evaluation`: it reads the
    words that a model of the same config reads, up to `text.max_length`.
    C is chosen from `svm.GRID` by the validation split. A finished run returns
    its results.

    Args:
        config: the fields of `mtl_tf.configs.base.default_config`.
        model_dir: folder of the results.
        data_dir: where prepared datasets are kept.
        manual_dir: where the corpora's own files are.
        features: `shared_private` (one SVM for all tasks with the same labels;
            each feature has a shared copy and one for each task), `private`
            (an SVM for each task) or `shared` (one SVM without own copies).

    Returns:
        The contents of `results.json`: the structure of
        `mtl_tf.runs.training_run.train`, with the split `validation` among the
        `other_splits` and without losses. `run` has the chosen `C` by task.

    Raises:
        MtlError: a mistake in the config, the data or the folder, or
            scikit-learn is not installed.
    """
    checks.one_of("features", features, svm.FEATURES)
    scikit_learn()  # fail before anything is read
    config = json.loads(json.dumps(config))
    # They teach models, not what models are compared with.
    config["training"]["teachers"] = []
    run = RunDirectory(model_dir)
    # A finished run needs no data.
    if not run.has("results.json"):
        tasks = run_data.tasks_of(config, (data_dir, manual_dir))
        _check_types(tasks)
        _check_splits(tasks, probabilities_of)
    baseline: dict[str, Any] = {"name": "linear", "features": features}
    if probabilities_of:
        baseline["probabilities_of"] = list(probabilities_of)
    with files.locked(model_dir):
        run.claim({**config, "baseline": baseline})
        if run.has("results.json"):
            logging.info("This run is finished; its results are returned.")
            return run.read("results.json")
        results = _train(
            config, run, (data_dir, manual_dir), features, probabilities_of
        )
        title = f"{config['name']}: linear model on TF-IDF, {features}"
        files.write_text(
            run.file("results.md"), tables.markdown(results, title)
        )
        run.write("results.json", results)
    return results


def _train(
    config: dict[str, Any],
    run: RunDirectory,
    folders: tuple,
    features: str,
    probabilities_of: Sequence[str],
) -> dict[str, Any]:
    start = time.monotonic()
    loaded = run_data.load(config, run, *folders)
    seed = svm.seed_of(config["seed"])
    blocks = [
        yardsticks.make_block(
            loaded, members, features == "shared_private", seed
        )
        for members in svm.blocks_of(loaded.tasks, features)
    ]
    for block in blocks:
        block.fit()
        block.calibrate()
    clean = CleanParts.of_config(config, *folders)
    splits = [*config["evaluation"]["splits"], "validation"]
    parts = [
        _evaluate(loaded, blocks, split, clean, run.path)
        for split in dict.fromkeys(splits)
    ]
    # What other models learn from it (`training.teachers`).
    _evaluate(loaded, blocks, "train", clean, run.path)
    if probabilities_of and not run.has(probability_files.FOLDER):
        _keep_probabilities(loaded, blocks, probabilities_of, run)
    (validation,) = (part for part in parts if part["split"] == "validation")
    about = _about(config, blocks, loaded) | {
        "features": features,
        "validation_mean": validation["mean"]["overall"],
        "wall_time": time.monotonic() - start,
    }
    return run_results.joined(parts, about)


def _check_types(tasks: Sequence[Task]) -> None:
    known = [t.name for t in tasks if answers.of(t.type).linear]
    for task in tasks:
        if task.name not in known:
            others = f": --config.tasks={','.join(known)}" if known else ""
            name = type_names.title(task.type)
            raise ConfigError(
                "the linear baseline gives texts and pairs of them labels or "
                f"numbers; the task {task.name!r} is of the type {name!r}; "
                f"name only tasks that it knows{others}"
            )


def _check_splits(tasks: Sequence[Task], splits: Sequence[str]) -> None:
    for split in splits:
        if not any(task.has_split(split) for task in tasks):
            known = {name for t in tasks for name in t.source.split_names}
            known |= set(SPLITS)
            raise ConfigError(
                f"--probabilities_of: no task has a split {split!r}; "
                f"{hint(split, known)}"
            )


def _evaluate(
    loaded: RunData,
    blocks: Sequence[svm.Block],
    split: str,
    clean: CleanParts,
    directory: str,
) -> dict[str, Any]:
    """Scores all tasks, in their order, on a split, and keeps predictions."""
    block_of = {n: block for block in blocks for n in block.members}
    scored = []
    for number, task in enumerate(loaded.tasks):
        encoded = run_data.encode_split(task, split, loaded.encoder)
        block, extra = block_of[number], clean.about(task, split)
        predicted = block.predict(encoded, number)
        extra["scores"] = block.probabilities(encoded, number)
        predictions = svm.predictions_of(task, encoded, predicted, **extra)
        scored.append(probability_files.marked(predictions, task, split))
    scored_examples.write(directory, split, scored)
    return evaluator.evaluate(scored, split)


def _keep_probabilities(
    loaded: RunData,
    blocks: Sequence[svm.Block],
    splits: Sequence[str],
    run: RunDirectory,
) -> None:
    """Writes what the SVMs say of splits, of each task that has them."""
    block_of = {n: block for block in blocks for n in block.members}
    with files.new_directory(run.file(probability_files.FOLDER)) as folder:
        for number, task in enumerate(loaded.tasks):
            if not task.labels:
                continue  # numbers have no probabilities
            keys, scores = [], []
            for split in splits:
                if not task.has_split(split):
                    continue
                encode = (
                    run_data.encode_split
                    if split in SPLITS
                    else soft_targets.encode_unlabelled
                )
                encoded = encode(task, split, loaded.encoder)
                keys.append(probability_files.keys_of_split(task, split))
                scores.append(block_of[number].probabilities(encoded, number))
            table = probability_files.Table(
                np.concatenate(keys), np.concatenate(scores), task.labels
            )
            probability_files.write(folder, task.name, table)


def _about(
    config: Mapping[str, Any], blocks: Sequence[svm.Block], loaded: RunData
) -> dict[str, Any]:
    """The facts of the run."""
    versions = environment.versions()
    versions["scikit-learn"] = scikit_learn().__version__
    return {
        "name": config["name"],
        "seed": config["seed"],
        "hardware": environment.hardware(),
        "versions": versions,
        "parameters": sum(block.parameters() for block in blocks),
        "vocabulary": loaded.encoder.size,
        "C": {
            loaded.tasks[n].name: block.penalty
            for block in blocks
            for n in block.members
        },
        "temperature": {
            loaded.tasks[n].name: temperature
            for block in blocks
            for n, temperature in block.temperatures.items()
        },
    }
