"""Validation scores of runs, task by task, as training goes on."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.core.names import look_up
from mtl_tf.pipelines.mixing import for_tasks, make_mixing
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.directory.run_folders import run_folders

# What the scores stand against.
MINIBATCHES, HOURS = "minibatches", "hours"
AXES = (MINIBATCHES, HOURS)
_STAGE = "joint"


@dataclasses.dataclass(frozen=True)
class ScoreCurve:
    """The scores of a run on the validation split of a task.

    Attributes:
        label: how the figure names the run.
        task: the task.
        metric: whose scores.
        places: where they stand: minibatches of the task, or hours.
        scores: from 0 to 100.
    """

    label: str
    task: str
    metric: str
    places: tuple[float, ...]
    scores: tuple[float, ...]


def read(
    path: str, label: str, axis: str = MINIBATCHES, metric: str = ""
) -> list[ScoreCurve]:
    """Reads the curves of a run, one a task, from its `metrics.jsonl`.

    Against `minibatches` of the task itself, a model of one task and one of
    several compare at equal amounts of its data, as in figure 4 of Dong et al.
    (2015). With `training.accumulate_steps`, a step has that many. Against
    `hours`, a model of several tasks has its whole time: that of the joint
    stage is spread evenly over its steps, since single steps are not noted.
    Runs of older versions with fine-tuning note only the time of all stages: it
    is spread over the steps of all, as if they took equally long.

    Args:
        path: the run directory; of a model for each task, the whole.
        label: how the figure names it.
        axis: one of `AXES`.
        metric: a metric of the tasks, "" for each task's primary one.

    Raises:
        RunError: no evaluation is noted there, or for hours the run is not
            finished.
        ConfigError: an unknown axis or metric.
    """
    checks.one_of("axis", axis, AXES)
    curves = [
        curve
        for folder in run_folders(path)
        for curve in _curves(folder, label, axis, metric)
    ]
    if not curves:
        raise RunError(f"{path} has no evaluations in metrics.jsonl")
    return curves


def _curves(
    folder: RunDirectory, label: str, axis: str, metric: str
) -> Iterator[ScoreCurve]:
    entries = [e for e in folder.metrics() if e["stage"] == _STAGE]
    if not entries:
        return
    steps = [entry["step"] for entry in entries]
    tasks = folder.read("labels.json")["tasks"]
    hours = _hours(folder, steps) if axis == HOURS else None
    for number, task in enumerate(tasks):
        name = task["name"]
        scores_of_tasks = [
            entry["validation"]["tasks"][name] for entry in entries
        ]
        primary = metric or task["metrics"][0]
        scores = [
            look_up(primary, scores_of_task, f"metric of {name}")
            for scores_of_task in scores_of_tasks
        ]
        positions = hours or _minibatches(folder, tasks, steps)[number]
        points = [(p, s) for p, s in zip(positions, scores) if s is not None]
        if points:
            yield ScoreCurve(label, name, primary, *zip(*points))


def _minibatches(
    folder: RunDirectory, tasks: Sequence[Mapping[str, Any]], steps: list[int]
) -> list[list[float]]:
    """How many minibatches each task has had before each of the steps."""
    config, about = folder.read("config.json"), folder.read("data.json")
    names = [task["name"] for task in tasks]
    sizes = np.array(
        [about["tasks"][name]["train"]["examples"] for name in names]
    )
    # How its batches are divided among the tasks is not noted: by size. It
    # matters only to mixings that take tasks by their sizes.
    steps_per_epoch = folder.read("batches.json")["steps_per_epoch"]
    shares = np.maximum(
        1, np.round(steps_per_epoch * sizes / sizes.sum())
    ).astype(int)
    # Its options may name tasks that this model does not have.
    mixing_config = for_tasks(config["pipeline"]["mixing"], names)
    mixing = make_mixing(mixing_config, shares, config["seed"], names)
    counts = np.array([mixing.counts(s) for s in steps], float).T
    return (counts * config["training"]["accumulate_steps"]).tolist()


def _hours(folder: RunDirectory, steps: list[int]) -> list[float]:
    """Hours of training before each of the steps."""
    if not folder.has("results.json"):
        raise RunError(
            f"{folder.path} is not finished: how long a run took is known at "
            f"its end; until then draw it against {MINIBATCHES}"
        )
    run = folder.read("results.json")["run"]
    if "stage_seconds" in run:
        seconds_of_step = run["stage_seconds"][_STAGE] / steps[-1]
    else:
        last = {entry["stage"]: entry["step"] for entry in folder.metrics()}
        seconds_of_step = run["wall_time"] / sum(last.values())
    return [seconds_of_step * step / 3600 for step in steps]


def by_task(curves: Sequence[ScoreCurve]) -> dict[str, list[ScoreCurve]]:
    """The curves of each task, tasks and curves in the order of the runs.

    Raises:
        ConfigError: a task is scored by different metrics.
    """
    curves_of: dict[str, list[ScoreCurve]] = {}
    for curve in curves:
        curves_of.setdefault(curve.task, []).append(curve)
    for task, group in curves_of.items():
        metrics = sorted({curve.metric for curve in group})
        if len(metrics) > 1:
            raise ConfigError(
                f"the runs score the task {task} by {' and '.join(metrics)}: "
                "name one"
            )
    return curves_of
