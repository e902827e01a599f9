"""Several runs whose probabilities are averaged, ready to be asked."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core import digests, files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.prediction import labelled_data, task_types
from mtl_tf.prediction.example_predictions import ExamplePredictions
from mtl_tf.prediction.predicting_run import TaskDict
from mtl_tf.prediction.prediction_type import FITTED_FIELDS
from mtl_tf.runs import fitting
from mtl_tf.runs.directory import run_weights
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.loaded import loading, single_runs
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.runs.loaded.single_runs import SingleRuns
from mtl_tf.text.encoding.token_columns import TokenColumn


class Member(NamedTuple):
    """A run of an ensemble, for one task.

    Attributes:
        run: the run.
        weight: its weight; those of a task sum to 1.
        order: the places of the ensemble's labels among the run's own.
    """

    run: Run
    weight: float
    order: Sequence[int]


@dataclasses.dataclass(frozen=True, repr=False)
class LoadedEnsemble(ExamplePredictions):
    """An ensemble that `launch.ensemble` has scored.

    It predicts as a run does, from the mean of its runs' probabilities.

    Attributes:
        path: the file that `launch.ensemble --output` wrote.
        results: its contents.
        tasks: the tasks, as in `Run.tasks`, with what was fitted for the mean
            of the probabilities in place of what the members fitted.
        members: the members of each task, by name.
    """

    path: str
    results: Mapping[str, Any]
    tasks: Sequence[Mapping[str, Any]]
    members: Mapping[str, Sequence[Member]]

    def __repr__(self) -> str:
        return f"<ensemble {self.path}: {self._told_tasks()}>"

    @property
    def config(self) -> dict[str, Any]:
        """The entries of its tasks in the configs of their first members."""
        entries = [
            labelled_data.entry_of(first.run.config, name)
            for name, (first, *_) in self.members.items()
        ]
        return {"tasks": [entry for entry in entries if entry]}

    @property
    def runs(self) -> list[Run]:
        """The members' runs, each once."""
        by_id = {
            id(member.run): member.run
            for of_task in self.members.values()
            for member in of_task
        }
        return list(by_id.values())

    def forward(
        self,
        task: TaskDict,
        examples: Mapping[str, tf.Tensor | tf.RaggedTensor],
        batch_size: int = 64,
    ) -> dict[str, Any]:
        """The mean probabilities and what they decide; see `Run.forward`."""
        scores = 0.0
        for run, weight, order in self.members[task["name"]]:
            outputs = run.outputs(task["name"], examples, batch_size)
            given = np.asarray(outputs["scores"], np.float64)
            scores = scores + weight * given[:, order]
        kind = scoring.of(task["type"]).probabilities
        outputs = {"scores": scores, "prediction": kind.predicted(scores)}
        return task_types.of(task["type"]).decided(task, outputs)

    def token_columns(self, task: TaskDict) -> list[TokenColumn]:
        """Those of all members; see `Run.token_columns`."""
        return [
            column
            for member in self.members[task["name"]]
            for column in member.run.token_columns(
                member.run.tasks[member.run.task_index(task["name"])]
            )
        ]

    def _evaluated(self, split: str, *_: Any) -> dict[str, Any]:
        raise ConfigError(
            f"{self.path} is an ensemble: launch.ensemble scores its splits "
            f"(--split={split}), and here other labelled data can be scored "
            "(data; --files=TASK=FILE)"
        )

    def _predicted(
        self, task: TaskDict, fields: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        predictions = task_types.of(task["type"])
        return predictions.predict(self, task, fields, batch_size)


def members_of(results: Any, path: str) -> list[tuple[str, float]]:
    """The directories and weights of an ensemble's members.

    The weights are above 0 and sum to 1.

    Args:
        results: the contents of an ensemble's file.
        path: the file's path, for messages.

    Raises:
        RunError: they are no ensemble, or no member counts.
    """
    try:
        members = [
            (str(member["directory"]), float(member["weight"]))
            for member in results["members"]
        ]
    except (KeyError, TypeError, ValueError):
        raise RunError(
            f"{path} must be what launch.ensemble --output wrote: its members "
            "must each have a directory and a weight"
        )
    total = sum(weight for _, weight in members if weight > 0)
    if not total:
        raise RunError(f"{path} has no member with a weight above 0")
    return [(run, weight / total) for run, weight in members if weight > 0]


def load_any(
    path: str,
    decoding: Mapping[str, Any] | None = None,
    weights: str = run_weights.BEST,
) -> Run | SingleRuns | LoadedEnsemble:
    """Loads a run, the runs of single tasks, or an ensemble.

    Args:
        path: a run's directory, or the file that `launch.ensemble --output`
            wrote.
        decoding, weights: as in `loading.load`, for a run.

    Raises:
        MtlError: as in `loading.load` and `load`; an ensemble takes neither
            `decoding` nor other weights.
    """
    if not os.path.isfile(path):
        directory = RunDirectory(path)
        # Baselines have no such field.
        if directory.has("config.json") and directory.read("config.json").get(
            "train_separately"
        ):
            return single_runs.load(directory, decoding, weights)
        return loading.load(path, decoding, weights)
    asked = [
        *sorted(decoding or {}),
        *["weights"] * (weights != run_weights.BEST),
    ]
    if asked:
        raise ConfigError(
            f"{', '.join(asked)}: {path} is an ensemble, of its runs' best "
            "weights, and writes no texts: it has no such setting"
        )
    return load(path)


def load(path: str) -> LoadedEnsemble:
    """Loads the runs of an ensemble.

    Args:
        path: the file that `launch.ensemble --output` wrote.

    Raises:
        RunError: it is another file, or a member cannot be loaded, or has
            changed.
        ConfigError: a member is a baseline, which keeps no model.
    """
    results = files.read_json(path)
    weighted = members_of(results, path)
    fitted = results.get("fitted")
    if not isinstance(fitted, dict) or not isinstance(
        results.get("tasks"), dict
    ):
        raise RunError(
            f"{path} does not say what was fitted for the mean: an older "
            "version wrote it. Write it again with launch.ensemble --output"
        )
    check_unchanged(results["members"], path)
    loaded: dict[str, Run] = {}
    tasks, members = [], {}
    for name in results["tasks"]:
        found = []
        for directory, weight in weighted:
            place = _place(directory, name)
            if place not in loaded:
                loaded[place] = loading.load(place)
            found.append((loaded[place], weight))
        task, members[name] = _task(name, found)
        tasks.append(task | fitted.get(name, {}))
    return LoadedEnsemble(path, results, tasks, members)


def check_unchanged(members: Sequence[Mapping[str, Any]], path: str) -> None:
    """Refuses a member that is gone, or has other scores and thresholds.

    Args:
        members: those of an ensemble's file. Older versions noted no states.
        path: the file's path, for messages.

    Raises:
        RunError: there is such a member.
    """
    for member in members:
        directory = member["directory"]
        if not member["weight"]:
            continue  # It does not count, and may be gone.
        if not RunDirectory(directory).has("config.json"):
            raise RunError(
                f"{path}: its member {directory} is not there any more: "
                "restore it, or run launch.ensemble again"
            )
        if "state" in member and member["state"] != state_of(directory):
            raise RunError(
                f"{path}: its member {directory} has been trained or "
                "calibrated since: run launch.ensemble again"
            )


def _task(
    name: str, weighted: Sequence[tuple[Run, float]]
) -> tuple[dict[str, Any], list[Member]]:
    """A task as the first run has it, without what that fitted; its members."""
    first = weighted[0][0]
    task = first.tasks[first.task_index(name)]
    members = []
    for run, weight in weighted:
        own = run.tasks[run.task_index(name)]
        labels = list(own["labels"])
        if own["type"] != task["type"] or {*labels} != {*task["labels"]}:
            raise RunError(
                f"{run.directory.path} has other labels of the task {name} "
                f"than {first.directory.path}, or another type: it has "
                "changed. Run launch.ensemble again"
            )
        order = [labels.index(label) for label in task["labels"]]
        members.append(Member(run, weight, order))
    return {k: v for k, v in task.items() if k not in FITTED_FIELDS}, members


def state_of(directory: str) -> str:
    """A digest of which weights a run has chosen, and what it has fitted."""
    names = [
        name
        for name in digests.files_below(directory)
        if os.path.basename(name) in ("best.json", fitting.FILE)
    ]
    found = digests.of_files(directory, names)
    return digests.of_bytes(json.dumps(found).encode())


def _place(directory: str, task: str) -> str:
    """The directory of the member's model of a task."""
    run = RunDirectory(directory)
    if "baseline" in run.read("config.json"):
        raise ConfigError(
            f"the member {directory} of the ensemble is a linear baseline, "
            "which keeps no model: run launch.ensemble without it, or train a "
            "model that learns from the ensemble (training.teachers)"
        )
    alone = run.file("tasks", task)
    return alone if os.path.isdir(alone) else directory
