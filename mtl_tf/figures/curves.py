"""Training and development loss of runs by epoch."""

import collections
import dataclasses
from collections.abc import Mapping
from typing import Any

from mtl_tf.core.errors import RunError
from mtl_tf.evaluation.spread import spread
from mtl_tf.runs.run_folders import run_folders


@dataclasses.dataclass(frozen=True)
class Curve:
    """The losses of a run, means over its tasks.

    Attributes:
        label: how the figure names it.
        epochs: when the run was evaluated.
        train: mean training loss since the evaluation before.
        development: mean loss on the validation split, None where the run
            did not note it.
    """

    label: str
    epochs: tuple[float, ...]
    train: tuple[float, ...]
    development: tuple[float | None, ...]


def read(path: str, label: str) -> Curve:
    """Reads a run's curve from its `metrics.jsonl`.

    A run of a model per task gives the mean over the models, as far as all of
    them trained.

    Args:
        path: the run directory.
        label: how the figure names it.

    Raises:
        RunError: no evaluation is noted there.
    """
    folders = run_folders(path)
    points: dict[float, list[Mapping[str, Any]]] = collections.defaultdict(list)
    for folder in folders:
        for entry in folder.metrics():
            if entry["stage"] == "joint":
                points[entry["epoch"]].append(entry)
    complete = {e: p for e, p in points.items() if len(p) == len(folders)}
    if not complete:
        raise RunError(f"{path} has no evaluations in metrics.jsonl")
    epochs = sorted(complete)
    return Curve(
        label,
        tuple(epochs),
        tuple(spread(_training_losses(complete[e]))["mean"] for e in epochs),
        tuple(spread(_development_losses(complete[e]))["mean"] for e in epochs),
    )


def _training_losses(entries: list[Mapping[str, Any]]) -> list[float]:
    return [loss for e in entries for loss in e["train_loss"].values()]


def _development_losses(entries: list[Mapping[str, Any]]) -> list[float]:
    return [
        scores["loss"]
        for entry in entries
        for scores in entry["validation"]["tasks"].values()
        if scores.get("loss") is not None
    ]
