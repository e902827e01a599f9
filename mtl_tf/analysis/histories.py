"""How the trainings of a run went: what `metrics.jsonl` says of each stage."""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

from mtl_tf.evaluation.tables.spread import spread
from mtl_tf.runs.directory import file_shapes, run_weights
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.directory.run_folders import run_folders
from mtl_tf.runs.stages import stage_plan

Series = tuple[float | None, ...]


@dataclasses.dataclass(frozen=True)
class Curves:
    """Losses and scores at each evaluation, None where one is not known.

    Attributes:
        train: the mean training loss since the evaluation before.
        validation: the loss on the validation split.
        score: the validation score.
        metric: whose score; "" for the mean over tasks.
    """

    train: Series
    validation: Series
    score: Series
    metric: str = ""


@dataclasses.dataclass(frozen=True)
class History:
    """A stage of a training.

    Attributes:
        stage: its name.
        steps: when it was evaluated.
        tasks: the curves of each task.
        mean: those of the means over the tasks.
        best_step: whose weights are the run's.
        ending: a sentence on how it ended.
        stopped_early: whether it ended before its planned length.
    """

    stage: str
    steps: tuple[int, ...]
    tasks: Mapping[str, Curves]
    mean: Curves
    best_step: int
    ending: str
    stopped_early: bool


def read(path: str) -> list[History]:
    """The stages of a finished run; of a model per task, those of each.

    Stages without a noted evaluation are left out.

    Args:
        path: the run directory.

    Raises:
        RunError: it is none, or a file is missing or damaged.
    """
    folders = run_folders(path)
    return [history for folder in folders for history in _stages(folder)]


def _stages(run: RunDirectory) -> Iterator[History]:
    config, tasks = run.read("config.json"), run.read("labels.json")["tasks"]
    metrics = {task["name"]: task["metrics"][0] for task in tasks}
    entries = list(run.metrics())
    for stage in stage_plan.plan(config, list(metrics)):
        of_stage = [
            entry for entry in entries if entry.get("stage") == stage.name
        ]
        if of_stage:
            file_shapes.check(run.file("metrics.jsonl"), of_stage)
            best = os.path.join(stage.folder, "best", "best.json")
            steps = [run.read(best)["step"]]
            if stage.per_task:
                steps += _steps_of_tasks(
                    run, [list(metrics)[n] for n in stage.main]
                )
            ending = _ending(stage, of_stage, steps, config["training"])
            yield _history(stage.name, of_stage, metrics, *ending)


def _steps_of_tasks(run: RunDirectory, names: list[str]) -> list[int]:
    folders = map(run_weights.folder_of_task, names)
    files = [os.path.join(folder, "best.json") for folder in folders]
    return [run.read(file)["step"] for file in files if run.has(file)]


def _history(
    stage: str,
    entries: list[dict[str, Any]],
    metrics: Mapping[str, str],
    best_step: int,
    ending: str,
    stopped_early: bool,
) -> History:
    scored = [entry["validation"]["tasks"] for entry in entries]
    curves = {
        name: Curves(
            tuple(entry["train_loss"].get(name) for entry in entries),
            tuple(scores[name].get("loss") for scores in scored),
            tuple(scores[name].get(metric) for scores in scored),
            metric,
        )
        for name, metric in metrics.items()
        if all(name in scores for scores in scored)
    }
    mean = Curves(
        _means([list(entry["train_loss"].values()) for entry in entries]),
        _means([[s.get("loss") for s in scores.values()] for scores in scored]),
        tuple(entry["validation"]["mean"] for entry in entries),
    )
    steps = tuple(entry["step"] for entry in entries)
    return History(stage, steps, curves, mean, best_step, ending, stopped_early)


def _means(rows: list[list[float | None]]) -> Series:
    return tuple(spread(row)["mean"] for row in rows)


def _ending(
    stage: stage_plan.Stage,
    entries: list[dict[str, Any]],
    best_steps: list[int],
    training: Mapping[str, Any],
) -> tuple[int, str, bool]:
    """The best step, how the stage ended, and whether before its time.

    The first of `best_steps` is that of the mean; tasks may have others.
    """
    last, best_step = entries[-1], best_steps[0]
    waited = sum(entry["step"] > max(best_steps) for entry in entries)
    # An entry's epochs are its steps by those of an epoch, so this compares
    # with `Stage.total_steps`.
    at_end = (
        last["step"] >= stage.steps
        if stage.steps
        else last["epoch"] >= stage.epochs and last["step"] >= stage.min_steps
    )
    time = f"after epoch {last['epoch']:g} (step {last['step']})"
    weights = (
        "each task kept the weights of its best score"
        if stage.per_task
        else f"the weights of step {best_step} were kept"
    )
    patience = training["patience"]
    if patience and waited >= patience and not at_end:
        noun = "evaluation" if waited == 1 else "evaluations"
        return (
            best_step,
            f"Stopped early {time}: no better validation score for {waited} "
            f"{noun}; {weights}.",
            True,
        )
    if training.get("max_hours") and not at_end:
        return (
            best_step,
            f"Stopped {time} after training.max_hours; {weights}.",
            True,
        )
    return (
        best_step,
        f"Trained to its planned end, {time.removeprefix('after ')}; "
        f"{weights}.",
        False,
    )
