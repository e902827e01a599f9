"""Compares two runs, or two folders of seeds or folds, example by example."""

import dataclasses
import os
import time
from collections.abc import Collection, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import scored_examples, significance, task_types
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.significance import Difference, System
from mtl_tf.evaluation.tables import folding
from mtl_tf.runs.directory.run_folders import systems_of

# The folders of single-task runs: trained separately, or new tasks of a
# transfer.
_PARTS = ("tasks", "targets")


def compare(
    first: str,
    second: str,
    split: str = "test",
    tasks: Sequence[str] = (),
    draws: int = 2000,
    metric: str = "",
) -> dict[str, Any]:
    """Tests whether the second of two systems is better than the first.

    Args:
        first, second: each a run directory, or a folder of them (`seed_1`,
            `seed_2`, ..., as made by `experiments.reproduce`). The folds of a
            cross-validation (`experiments.sweep`) are taken together: its test
            set is all their examples.
        split: a split for which both have saved predictions.
        tasks: names of tasks; by default those of both.
        draws: the draws of the bootstrap.
        metric: replaces the primary metric of tasks that have it.

    Returns:
        "runs" (two lists of paths), "split", "draws", "tasks" {name: the fields
        of `significance.Difference`} and "mean", the same for the means.

    Raises:
        RunError: a folder holds no run, or one without saved predictions; or
            the runs were scored on different examples.
        ConfigError: the runs have no task in common, or lack a named one; or
            the split is not what folds divide.
    """
    found = [systems_of(first), systems_of(second)]
    if os.path.realpath(first) == os.path.realpath(second):
        logging.warning("%s is compared with itself.", first)
    differences, mean = _differences(found, split, tasks, draws, metric)
    return {
        "runs": [[run for system in side for run in system] for side in found],
        "split": split,
        "draws": draws,
        "tasks": {
            name: vars(difference) for name, difference in differences.items()
        },
        "mean": vars(mean),
    }


def standard_error(
    path: str, split: str = "test", draws: int = 2000, metric: str = ""
) -> float:
    """The standard error of a system's mean, from the choice of examples.

    Args:
        path, split, draws, metric: see `compare`.

    Raises:
        RunError, ConfigError: as for `compare`.
    """
    found = [systems_of(path)] * 2
    return _differences(found, split, (), draws, metric)[1].standard_errors[1]


def _differences(
    found: Sequence[Sequence[Sequence[str]]],
    split: str,
    tasks: Sequence[str],
    draws: int,
    metric: str,
) -> tuple[dict[str, Difference], Difference]:
    """What `significance.compare` finds for two systems' runs."""
    if split != "test" and any(len(s) > 1 for side in found for s in side):
        raise ConfigError(
            f"the folds of a cross-validation divide the examples of the split "
            f"'test' alone: those of {split!r} are in several folds"
        )
    sides = [[_of_folds(system, split) for system in side] for side in found]
    # Where runs are folds, the first one stands for its system.
    paths = [[system[0] for system in side] for side in found]
    runs = [run for side in sides for run in side]
    names = common_tasks(runs, tasks, [paths[0][0], paths[1][0]])
    systems = [
        [{name: _by(metric, run[name]) for name in names} for run in side]
        for side in sides
    ]
    _check_same(systems, paths)
    return significance.compare(
        *systems, draws=draws, progress=_progress(draws)
    )


def _of_folds(runs: Sequence[str], split: str) -> System:
    """The predictions of one run, or of all folds for the tasks that all have.

    Raises:
        RunError: as for `kept_predictions`, or the folds' labels differ.
    """
    parts = [kept_predictions(run, split) for run in runs]
    if len(parts) == 1:
        return parts[0]
    names = {name: None for part in parts for name in part}
    common = [name for name in names if all(name in part for part in parts)]
    if len(common) < len(names):
        logging.warning(
            "Left out, since not all folds have them: %s",
            ", ".join(sorted(set(names) - set(common))),
        )
    return {
        name: scored_examples.joined([part[name] for part in parts])
        for name in common
    }


def _by(metric: str, task: TaskPredictions) -> TaskPredictions:
    """A task's predictions, with the metric as its primary one."""
    if metric not in task.metrics:
        return task
    others = [name for name in task.metrics if name != metric]
    return dataclasses.replace(task, metrics=(metric, *others))


def kept_predictions(path: str, split: str) -> System:
    """The saved predictions of a run, or of its single-task runs.

    Raises:
        RunError: there are none.
    """
    folders = [path]
    for part in _PARTS:
        parent = os.path.join(path, part)
        if os.path.isdir(parent):
            folders += [os.path.join(parent, n) for n in os.listdir(parent)]
    predictions: dict[str, Any] = {}
    for folder in sorted(folders):
        predictions |= scored_examples.read(folder, split)
    if not predictions:
        others = {n for f in folders for n in scored_examples.splits(f)}
        but = f", but for {', '.join(sorted(others))} (--split)"
        raise RunError(
            f"{path} has kept no predictions for the split {split!r}"
            f"{but * bool(others)}: python -m launch.evaluate --keep "
            f"--split={split} --model_dir=RUN writes them, of single models "
            "for each of tasks/*"
        )
    return predictions


def common_tasks(
    runs: Sequence[Collection[str]],
    requested: Sequence[str],
    paths: Sequence[str],
) -> list[str]:
    """The tasks that all runs have; a warning names the others.

    Args:
        runs: the task names of each run, such as from `kept_predictions`.
        requested: the tasks to take; all by default.
        paths: the runs' paths, for messages.

    Raises:
        ConfigError: there is none, or a requested one is not among them.
    """
    names = [n for n in runs[0] if all(n in run for run in runs)]
    for name in requested:
        if name not in names:
            raise ConfigError(
                f"the task {name!r} is not among those that all runs have: "
                f"{', '.join(names) or 'none'}"
            )
    if not names:
        raise ConfigError(f"{' and '.join(paths)} have no task in common")
    left_out = sorted({name for run in runs for name in run} - set(names))
    if left_out and not requested:
        logging.warning(
            "Left out, since not all runs have them: %s", ", ".join(left_out)
        )
    return list(requested or names)


def _check_same(
    sides: Sequence[Sequence[System]], paths: Sequence[list[str]]
) -> None:
    """Refuses runs that were scored on different examples or by other metrics.

    Examples are compared by their labels. If only the texts differ, it warns.
    """
    first = sides[0][0]
    for side, folders in zip(sides, paths):
        for run, path in zip(side, folders):
            for name, task in run.items():
                first_task = first[name]
                if not len(first_task.labels):
                    raise RunError(f"{name} has no examples in {paths[0][0]}")
                if _named(first_task) != _named(task):
                    raise RunError(
                        f"{paths[0][0]} and {path} were scored on other "
                        f"examples of the task {name}, or on other labels: "
                        "they cannot be compared one by one"
                    )
                if first_task.metrics[0] != task.metrics[0]:
                    raise RunError(
                        f"the primary metric of the task {name} is "
                        f"{first_task.metrics[0]} in {paths[0][0]} and "
                        f"{task.metrics[0]} in {path}"
                    )
    scored_examples.warn_of_other_texts(
        [run for side in sides for run in side],
        [path for folders in paths for path in folders],
    )


def _named(task: Any) -> list[Any]:
    """The labels, with classes by name, as runs may number them differently."""
    names = task.class_names
    marks_labels = task_types.of(task.type).probabilities is not None

    def name(value: Any) -> Any:
        if isinstance(value, list) and marks_labels:
            return sorted(n for n, is_set in zip(names, value) if is_set)
        if isinstance(value, list):
            return [name(item) for item in value]
        is_class = isinstance(value, int) and not isinstance(value, bool)
        return (
            names[value] if is_class and value in range(len(names)) else value
        )

    return [name(value) for value in task.labels]


def _progress(draws: int):
    """Logs the progress every ten seconds."""
    last_logged = time.monotonic()

    def progress(count: int) -> None:
        nonlocal last_logged
        if time.monotonic() - last_logged > 10:
            last_logged = time.monotonic()
            logging.info("draw %d of %d", count, draws)

    return progress


def table(
    comparison: dict[str, Any],
    titles: Sequence[str],
    columns: int | None = None,
) -> str:
    """The comparison as lines for a terminal, one for each task.

    Args:
        comparison: the return value of `compare`.
        titles: the titles of the runs.
        columns: the terminal's width; None for no limit.
    """
    rows = [("task", "examples", *titles, "gain", "95 % interval", "p")]
    for name, difference in [
        *comparison["tasks"].items(),
        ("mean", comparison["mean"]),
    ]:
        rows.append(_row(name, Difference(**difference)))
    parts = folding.blocks(rows, columns)
    return "\n\n".join("\n".join(lines) for lines in parts)


def _row(name: str, difference: Difference) -> tuple[str, ...]:
    scores = (
        f"{score:.2f} ± {error:.2f}"
        for score, error in zip(difference.scores, difference.standard_errors)
    )
    low, high = difference.interval
    return (
        name,
        f"{difference.examples:,}",
        *scores,
        f"{difference.gain:+.2f}",
        f"{low:+.2f} to {high:+.2f}",
        f"{difference.p_value:.3f}"
        + ("*" if difference.p_value < 0.05 else " "),
    )
