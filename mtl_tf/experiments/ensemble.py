"""The mean of several runs' probabilities, scored next to the runs.

Hansen and Salamon 1990, "Neural network ensembles", and Lakshminarayanan et al.
2017 average probabilities, too.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from mtl_tf.core.directories import DEFAULT_DIRECTORIES, Directories
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import evaluator, scored_examples, significance
from mtl_tf.evaluation.significance import System
from mtl_tf.experiments import averaging
from mtl_tf.experiments.averaging import VALIDATION
from mtl_tf.experiments.compare import common_tasks, kept_predictions
from mtl_tf.prediction.prediction_type import FITTED_FIELDS
from mtl_tf.runs.data import probability_files, run_data
from mtl_tf.runs.directory.run_folders import run_folders, runs_of
from mtl_tf.runs.loaded import loaded_ensemble
from mtl_tf.runs.loaded.loading import load


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Runs whose probabilities are averaged.

    Attributes:
        paths: the runs' paths.
        weights: the weight of each run; they sum to 1, and may be 0.
        members: each run's predictions, by split and task.
        combined: the predictions of their mean, likewise.
        steps: for a greedy choice, the run added in each step, and the score on
            the validation examples after it; else None.
    """

    paths: list[str]
    weights: list[float]
    members: dict[str, list[System]]
    combined: dict[str, System]
    steps: list[dict[str, Any]] | None = None

    @property
    def best(self) -> int:
        """The index of the best run on the validation examples."""
        return int(
            np.argmax([averaging.mean(m) for m in self.members[VALIDATION]])
        )

    def to_json(self, split: str, draws: int) -> dict[str, Any]:
        """The scores in the form of `results.json`, with further results.

        Args:
            split: the split that the results name first.
            draws: the draws of the paired bootstrap that compares the ensemble
                with the best member; its result is in "comparison".
        """
        splits = {
            name: evaluator.evaluate(predictions.values(), name)
            for name, predictions in self.combined.items()
        }
        results = {
            **splits.pop(split),
            "other_splits": splits,
            "fitted": {
                name: {
                    k: v for k, v in task.settings.items() if k in FITTED_FIELDS
                }
                for name, task in self.combined[split].items()
            },
            "members": [
                {
                    "path": path,
                    "directory": os.path.abspath(path),
                    "weight": weight,
                    "state": loaded_ensemble.state_of(path),
                    "splits": {
                        name: _member(predictions[number], name)
                        for name, predictions in self.members.items()
                    },
                }
                for number, (path, weight) in enumerate(
                    zip(self.paths, self.weights)
                )
            ],
            "comparison": self._comparison(split, draws),
        }
        return results | ({} if self.steps is None else {"steps": self.steps})

    def _comparison(self, split: str, draws: int) -> dict[str, Any]:
        """Compares the ensemble with the best member on validation examples."""
        best = self.best
        by_task, mean = significance.compare(
            [self.members[split][best]], [self.combined[split]], draws
        )
        return {
            "runs": [[self.paths[best]], ["ensemble"]],
            "split": split,
            "draws": draws,
            "tasks": {
                name: vars(difference) for name, difference in by_task.items()
            },
            "mean": vars(mean),
        }


def _member(predictions: System, split: str) -> dict[str, Any]:
    """A member's scores in the form of `metrics.jsonl`, and the clean mean."""
    results = evaluator.evaluate(predictions.values(), split)
    clean = results["mean"].get("clean")
    return evaluator.brief(results) | (
        {"clean": clean["overall"]} if clean else {}
    )


def ensemble(
    model_dirs: Sequence[str],
    split: str = "test",
    tasks: Sequence[str] = (),
    rounds: int = 0,
    directories: Directories = DEFAULT_DIRECTORIES,
    more_splits: Sequence[str] = (),
) -> Ensemble:
    """Averages runs' probabilities for the examples of their tasks.

    If a run was not scored on a split, it is scored now, and the predictions
    are saved in the run, as by `launch.evaluate --keep`. What a task type fits
    on validation examples, such as thresholds, is fitted anew for the mean.

    Args:
        model_dirs: run directories, of models or of the linear baseline, or
            folders of them (`seed_1`, `seed_2`, ...).
        split: the split to score besides the validation split.
        tasks: names of tasks; if empty, those of all runs.
        rounds: the rounds of a greedy choice of the members on the validation
            examples; 0 takes each run once.
        directories: where data are.
        more_splits: further splits to average.

    Raises:
        RunError: a folder holds no finished run, or the runs have other
            labels, or were scored on different examples.
        ConfigError: fewer than two runs, no task in common, or a task type
            without probabilities of whole examples.
    """
    by_place: dict[str, str] = {}
    for model_dir in model_dirs:
        for path in runs_of(model_dir):
            by_place.setdefault(os.path.realpath(path), path)
    paths = list(by_place.values())
    if len(paths) < 2:
        raise ConfigError(
            "an ensemble needs at least two runs, got "
            f"{', '.join(paths) or 'none'}"
        )
    described = [_tasks_of(path) for path in paths]
    names = common_tasks(described, tasks, paths)
    for name in names:  # Before hours of scoring.
        of_runs = [of_run[name] for of_run in described]
        for task in of_runs:
            averaging.check_type(name, task["type"])
        averaging.check_labels(name, [t["labels"] for t in of_runs], paths)
    splits = list(dict.fromkeys([VALIDATION, split, *more_splits]))
    predictions = {
        name: [predictions_of(path, name, names, directories) for path in paths]
        for name in splits
    }
    members = {
        name: averaging.aligned(
            [{task: run[task] for task in names} for run in runs], paths, name
        )
        for name, runs in predictions.items()
    }
    weights, steps = [1.0 / len(paths)] * len(paths), None
    if rounds:
        weights, steps = averaging.greedy(members[VALIDATION], rounds, paths)
    combined = averaging.combined(members, weights)
    return Ensemble(paths, weights, members, combined, steps)


def _tasks_of(path: str) -> dict[str, dict[str, Any]]:
    """A run's tasks, as `labels.json` describes them, by name."""
    return {
        task["name"]: task
        for folder in run_folders(path)
        for task in folder.read("labels.json")["tasks"]
    }


def predictions_of(
    path: str,
    split: str,
    names: Sequence[str],
    directories: Directories,
) -> System:
    """A run's predictions for a split; tasks that lack it are scored.

    Raises:
        RunError: it is a baseline, which cannot be scored again.
    """
    for folder in run_folders(path):
        known = [task["name"] for task in folder.read("labels.json")["tasks"]]
        kept_tasks = scored_examples.read(folder.path, split)
        missing = [n for n in known if n in names and n not in kept_tasks]
        if not missing:
            continue
        if "baseline" in folder.read("config.json"):
            raise RunError(
                f"{path} is a baseline, which has kept no predictions for the "
                f"split {split!r}: name {split} in evaluation.splits of its "
                "config and run launch.baseline in another --model_dir"
            )
        logging.info("Scoring %s on %s.", folder.path, split)
        run = load(folder.path)
        run.evaluate(split, missing, *directories, keep=True)
    return kept_predictions(path, split)


def save_probabilities(
    result: Ensemble,
    folder: str,
    splits: Sequence[str],
    directories: Directories,
) -> list[str]:
    """Saves the mean probabilities, for `training.teachers` of other runs.

    Args:
        result: the ensemble, with these splits.
        folder: the folder that gets `TASK.npz` for each task.
        splits: the splits of the saved examples.
        directories: where data are.

    Returns:
        The paths of the files.

    Raises:
        MtlError: as for `Task.dataset`; or the data differ from the scored
            ones.
    """
    tasks = {}
    for folder_of_run in run_folders(result.paths[0]):
        config = folder_of_run.read("config.json")
        for task in run_data.tasks_of(config, directories):
            tasks[task.name] = task
    tables = {}
    for name in result.combined[VALIDATION]:
        keys, scores = [], []
        for split in splits:
            predictions = result.combined[split][name]
            task = tasks[name]
            rows = probability_files.keys_of_split(task, split)
            if len(rows) != len(predictions.labels):
                raise RunError(
                    f"the split {split} of {name} has {len(rows)} examples, "
                    f"and {len(predictions.labels)} were scored: score the "
                    "runs again"
                )
            now = probability_files.digest(rows)
            for path, member in zip(result.paths, result.members[split]):
                if member[name].examples not in (None, now):
                    raise RunError(
                        f"the split {split} of {name} has other texts, or "
                        f"another order of them, than when {path} was scored "
                        "on it: restore the data, or score the runs again "
                        f"(launch.evaluate --keep --split={split})"
                    )
            keys.append(rows)
            scores.append(np.asarray(predictions.scores, np.float32))
        tables[name] = probability_files.Table(
            np.concatenate(keys),
            np.concatenate(scores),
            tuple(result.combined[VALIDATION][name].class_names),
        )
    return [
        probability_files.write(folder, name, table)
        for name, table in tables.items()
    ]


def table(results: Mapping[str, Any], split: str) -> list[tuple[str, ...]]:
    """The rows of a table: the members and the ensemble on a split.

    Args:
        results: the return value of `Ensemble.to_json`.
        split: one of its splits.

    Returns:
        A row of headings, one for each member and one for the ensemble: name,
        weight, the primary score of each task, their mean, and the mean on the
        clean parts, if the ensemble has one.
    """
    by_split = {results["split"]: results, **results["other_splits"]}
    combined = by_split[split]
    has_clean = "clean" in combined["mean"]
    tasks = {name: task["primary"] for name, task in combined["tasks"].items()}

    def row(name: str, weight: str, result: Mapping[str, Any]) -> tuple:
        scores = [result["tasks"][t].get(m) for t, m in tasks.items()]
        mean = result["mean"]
        clean = result.get("clean")
        if isinstance(mean, Mapping):
            mean, clean = mean["overall"], mean.get("clean", {}).get("overall")
        scores += [mean, clean] if has_clean else [mean]
        cells = ["-" if s is None else f"{s:.2f}" for s in scores]
        return (name, weight, *cells)

    members = [
        row(entry["path"], f"{entry['weight']:.3g}", entry["splits"][split])
        for entry in results["members"]
    ]
    head = (split, "weight", *tasks, "mean", *["clean"] * has_clean)
    return [head, *members, row("ensemble", "", combined)]
