"""Training and development loss of runs by epoch."""

import bisect
import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import RunError
from mtl_tf.evaluation.tables.spread import spread
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.directory.run_folders import run_folders


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
    them trained. Tasks of different sizes are evaluated at different epochs:
    between two evaluations of a model, its losses are interpolated.

    Args:
        path: the run directory.
        label: how the figure names it.

    Raises:
        RunError: no evaluation is noted there, or there is no epoch by which
            all models had one.
    """
    folders = run_folders(path)
    models = [_of_model(folder, label) for folder in folders]
    if not models:
        raise RunError(f"{path} has no evaluations in metrics.jsonl")
    if len(models) == 1:
        return models[0]
    first = max(model.epochs[0] for model in models)
    last = min(model.epochs[-1] for model in models)
    if first > last:
        raise _apart(path, folders, models)
    epochs = sorted(
        {e for model in models for e in model.epochs if first <= e <= last}
    )
    return Curve(
        label,
        tuple(epochs),
        tuple(_mean_at(e, models, "train") for e in epochs),
        tuple(_mean_at(e, models, "development") for e in epochs),
    )


def _of_model(folder: RunDirectory, label: str) -> Curve:
    """The curve of a single model.

    Raises:
        RunError: no evaluation is noted there.
    """
    entries = [e for e in folder.metrics() if e["stage"] == "joint"]
    if not entries:
        raise RunError(f"{folder.path} has no evaluations in metrics.jsonl")
    return Curve(
        label,
        tuple(entry["epoch"] for entry in entries),
        tuple(spread(_training_losses(e))["mean"] for e in entries),
        tuple(spread(_development_losses(e))["mean"] for e in entries),
    )


def _apart(
    path: str, folders: Sequence[RunDirectory], models: Sequence[Curve]
) -> RunError:
    """The error of models without an epoch in common."""
    spans = (
        f"{os.path.relpath(folder.path, path)} from epoch "
        f"{model.epochs[0]:g} to {model.epochs[-1]:g}"
        for folder, model in zip(folders, models)
    )
    return RunError(
        f"{path} has no mean curve: its models were evaluated at epochs that "
        f"do not overlap ({', '.join(spans)}); draw them one by one"
    )


def _mean_at(epoch: float, models: Sequence[Curve], kind: str) -> float | None:
    values = (_at(epoch, m.epochs, getattr(m, kind)) for m in models)
    return spread(values)["mean"]


def _at(
    epoch: float, epochs: Sequence[float], values: Sequence[float | None]
) -> float | None:
    """The value at an epoch, interpolated; None if a neighbour has none."""
    after = bisect.bisect_left(epochs, epoch)
    if epochs[after] == epoch:
        return values[after]
    pair = values[after - 1 : after + 1]
    if None in pair:
        return None
    return float(np.interp(epoch, epochs[after - 1 : after + 1], pair))


def _training_losses(entry: Mapping[str, Any]) -> list[float]:
    return list(entry["train_loss"].values())


def _development_losses(entry: Mapping[str, Any]) -> list[float | None]:
    tasks = entry["validation"]["tasks"].values()
    return [scores.get("loss") for scores in tasks]
