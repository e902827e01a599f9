"""The stages of a run: joint training, then fine-tuning."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of a run with its own optimizer and checkpoints.

    Attributes:
        name: its name in `metrics.jsonl`.
        folder: its folder in the run directory, "" for the directory itself.
        tasks: the numbers of the tasks that it trains and scores.
        main: the numbers of those whose scores choose its weights.
        private_only: whether only the tasks' own parameters are trained.
        epochs: its length if `steps` is 0.
        steps: its length in steps.
        steps_per_epoch: the steps of an epoch; 0 for one pass over the data.
        learning_rate: its highest learning rate.
        min_steps: its fewest steps, unless `steps` gives its length.
        per_task: whether each task keeps the weights of its own best score.
    """

    name: str
    folder: str
    tasks: tuple[int, ...]
    main: tuple[int, ...]
    private_only: bool
    epochs: int
    steps: int
    steps_per_epoch: int
    learning_rate: float
    min_steps: int = 0
    per_task: bool = False

    def total_steps(self, epoch: int) -> int:
        """Its number of steps, with `epoch` steps an epoch."""
        return self.steps or max(self.epochs * epoch, self.min_steps)


def plan(config: Mapping[str, Any], names: Sequence[str]) -> list[Stage]:
    """The stages of a run.

    Fine-tuning with the scope `private` trains only the tasks' own parameters,
    so one model remains. With the scope `all`, every task gets a copy of the
    whole model, trained on that task alone.

    Args:
        config: a run's config.
        names: the names of its tasks.
    """
    training, everyone = config["training"], tuple(range(len(names)))
    main = tuple(
        number
        for number in everyone
        if not training["main_tasks"] or names[number] in training["main_tasks"]
    )
    rate = training["optimizer"]["learning_rate"]
    stages = [
        Stage(
            "joint",
            "",
            everyone,
            main,
            False,
            training["epochs"],
            training["steps"],
            training["steps_per_epoch"],
            rate,
            training["min_steps"],
            training["best_per_task"] and len(names) > 1,
        )
    ]
    tuning = training["fine_tune"]
    if not tuning["epochs"]:
        return stages
    checks.one_of(
        "training.fine_tune.scope", tuning["scope"], ("private", "all")
    )
    rest = (tuning["epochs"], 0, 0, tuning["learning_rate"] or rate)
    if tuning["scope"] == "private":
        stages.append(
            Stage("fine_tuned", "fine_tuned", everyone, main, True, *rest)
        )
        return stages
    for number, name in enumerate(names):
        folder = os.path.join("fine_tuned", name)
        alone = (number,)
        stages.append(Stage(folder, folder, alone, alone, False, *rest))
    return stages
