"""Gathers what the page of a run, or of its seeds, shows."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.analysis import histories, kept_scores
from mtl_tf.analysis.histories import History
from mtl_tf.core import checks
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, MissingData, RunError
from mtl_tf.evaluation import probabilities, scored_examples, task_types
from mtl_tf.evaluation.mistakes import Mistake
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.experiments.compare import kept_predictions
from mtl_tf.runs.directory import run_results
from mtl_tf.runs.directory.run_directory import RunDirectory, flatten
from mtl_tf.runs.directory.run_folders import run_folders, runs_of
from mtl_tf.runs.loaded import loading


@dataclasses.dataclass(frozen=True)
class TaskAnalysis:
    """What the first run got wrong in a task.

    Attributes:
        mistakes: the worst ones, as many as were asked for.
        wrong: how many there are.
        measure: what they are ordered by; see `Scoring.measure`.
        inputs: what each example is read from, by its number; empty where
            the data are not at hand.
        reliability: how often what was given a probability came true; see
            `probabilities.reliability`. Empty where there are none.
        quality: of the probabilities; see `probabilities.quality`.
    """

    mistakes: list[Mistake]
    wrong: int
    measure: str
    inputs: Mapping[int, Any]
    reliability: Sequence[Mapping[str, float]] = ()
    quality: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Analysis:
    """Everything of a page.

    Attributes:
        paths: the runs; all but the first are other seeds of it.
        seeds: of each run.
        split: that was scored.
        results: of each run, as `evaluator.evaluate` returns them, from the
            predictions that it has kept; see `kept_scores`.
        run: facts of the first run, from its `results.json`.
        histories: the stages of each run.
        tasks: of the first run, by name.
        missing: why no texts are shown; "" where they are.
    """

    paths: list[str]
    seeds: list[int]
    split: str
    results: list[dict[str, Any]]
    run: dict[str, Any]
    histories: list[list[History]]
    tasks: dict[str, TaskAnalysis]
    missing: str


def analyse(
    model_dirs: Sequence[str],
    split: str = "",
    examples: int = 20,
    data_dir: str | None = None,
    manual_dir: str | None = None,
) -> Analysis:
    """Analyses a finished run, or several with different seeds.

    A split that a run was not scored on is scored, and kept in the run as
    `launch.evaluate --keep` does.

    Args:
        model_dirs: run directories, or folders of them (`seed_1`, `seed_2`,
            ...).
        split: which examples to show; those of results.json if "".
        examples: how many mistakes of each task.
        data_dir: where prepared datasets are.
        manual_dir: where the corpora are.

    Raises:
        RunError: a folder holds no finished run.
        ConfigError: the runs differ in more than their seeds, or `examples` is
            negative.
        DataError: the split is not there.
    """
    checks.not_negative_integer("examples", examples)
    paths = [path for model_dir in model_dirs for path in runs_of(model_dir)]
    seeds = _seeds(paths)
    directories = Directories(data_dir, manual_dir)
    first = RunDirectory(paths[0]).read("results.json")
    split = split or first["split"]
    results = [_results(path, split, directories) for path in paths]
    predictions = kept_predictions(paths[0], split)
    mistakes = {
        name: task_types.of(task.type).mistakes(task)
        for name, task in predictions.items()
    }
    first_mistakes = {
        name: of_task[:examples] for name, of_task in mistakes.items()
    }
    try:
        inputs = _inputs(
            paths[0], predictions, first_mistakes, split, directories
        )
        missing = ""
    except MissingData as error:
        logging.warning("No texts are shown: %s", error)
        inputs, missing = {}, str(error)
    tasks = {
        name: TaskAnalysis(
            first_mistakes[name],
            len(mistakes[name]),
            _measure(predictions[name]),
            inputs.get(name, {}),
            *_probabilities(predictions[name]),
        )
        for name in results[0]["tasks"]
    }
    stages = [histories.read(path) for path in paths]
    return Analysis(
        paths,
        seeds,
        split,
        results,
        run_results.facts_of(first, os.path.join(paths[0], "results.json")),
        stages,
        tasks,
        missing,
    )


def _seeds(paths: Sequence[str]) -> list[int]:
    """The seeds of runs that differ in nothing else.

    Raises:
        RunError: one of them is no run.
        ConfigError: they differ in another field, or two have one seed.
    """
    configs = []
    for path in paths:
        run_folders(path)
        configs.append(flatten(RunDirectory(path).read("config.json")))
    for path, config in zip(paths[1:], configs[1:]):
        for name in sorted({*configs[0], *config} - {"seed"}):
            values = configs[0].get(name), config.get(name)
            if values[0] != values[1]:
                raise ConfigError(
                    f"--model_dir: {paths[0]} and {path} are not seeds of one "
                    f"config: {name} is {values[0]!r} there and {values[1]!r} "
                    "here; analyse them one by one"
                )
    seeds = [config["seed"] for config in configs]
    for number, seed in enumerate(seeds):
        if seed in seeds[:number]:
            raise ConfigError(
                f"--model_dir: {paths[seeds.index(seed)]} and {paths[number]} "
                f"have the same seed, {seed}: name runs of different seeds"
            )
    return seeds


def _results(path: str, split: str, directories: Directories) -> dict[str, Any]:
    """The scores of what a run has kept of a split; scores it if need be."""
    noted = RunDirectory(path).read("results.json")
    for folder in run_folders(path):
        if not scored_examples.read(folder.path, split):
            logging.info("Scoring %s on %s.", folder.path, split)
            run = loading.load(folder.path)
            run.evaluate(split, None, *directories, keep=True)
    parts = (noted, *noted.get("other_splits", {}).values())
    scores = {part["split"]: part["tasks"] for part in parts}
    kept = kept_predictions(path, split)
    in_order = {name: kept[name] for name in noted["tasks"] if name in kept}
    return kept_scores.evaluate(in_order, split, scores.get(split, {}))


def _probabilities(task: TaskPredictions) -> tuple[list, dict[str, float]]:
    """How reliable the probabilities of a task are, and how good."""
    kind = task_types.of(task.type).probabilities
    if kind is None or task.scores is None or not len(task.labels):
        return [], {}
    scores = [row[: len(task.class_names)] for row in task.scores]
    arguments = (kind, task.labels, scores)
    bins = probabilities.reliability(*arguments)
    return bins, probabilities.quality(*arguments)


def _measure(task: TaskPredictions) -> str:
    return task_types.of(task.type).measure or task.metrics[0]


def _inputs(
    path: str,
    predictions: Mapping[str, TaskPredictions],
    mistakes: Mapping[str, Sequence[Mistake]],
    split: str,
    directories: Directories,
) -> dict[str, dict[int, Any]]:
    """What the examples of mistakes are read from, by task and number.

    Raises:
        MissingData: the corpora are not there.
        RunError: the data are others than those that were scored.
    """
    by_task = {}
    for folder in run_folders(path):
        run = loading.load(folder.path)
        for task in run.tasks:
            name = task["name"]
            inputs = run.inputs(name, split, *directories)
            if len(inputs) != len(predictions[name].labels):
                raise RunError(
                    f"the split {split} of {name} has {len(inputs)} examples, "
                    f"and {len(predictions[name].labels)} were scored in "
                    f"{os.path.join(folder.path, scored_examples.FOLDER)}: "
                    "score the run again with launch.evaluate --keep"
                )
            numbers = {mistake.number for mistake in mistakes[name]}
            by_task[name] = {n: inputs[n] for n in sorted(numbers)}
    return by_task
